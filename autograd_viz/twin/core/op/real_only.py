"""Ops that are not defined for complex numbers, and PyTorch's errors for them. An op's program checks the type (call.py)."""
# fmt: off

from __future__ import annotations

import re
from typing import Any, NoReturn

from ..tensor.refusals import scalar_type

# ops by the name of PyTorch's kernel; "*" is the name of the op without the ending that tells its overloads apart
_KERNELS = {
    "*_cpu": """
        adaptive_avg_pool3d_to adaptive_max_pool3d_to aminmax_dim atan2 copysign_scalar copysign_tensor ctc_loss_forward
        cummax_dim cummin_dim elu_of entr erfcx fmod_scalar fmod_tensor frac ge glu_of gt hardshrink hardsigmoid_of
        hardswish_of hypot kthvalue_dim le leaky_relu_of log_ndtr log_sigmoid_forward logaddexp2 logit lt mish_of mode_dim
        ndtri nextafter poisson prelu_kernel remainder_of_scalar remainder_scalar remainder_tensor softplus
        threshold_of xlogy_number xlogy_of_number xlogy_tensors""",
    "*_vml_cpu": "erf erfc erfinv lgamma round_whole",
    "*": """
        adaptive_avg_pool2d_to adaptive_max_pool2d_to avg_pool2d_windows binary_cross_entropy digamma max_all
        max_pool2d_with_indices max_pool3d_with_indices max_unpool2d_to max_unpool3d_to min_all""",
    "*_out_frame": "avg_pool3d_windows nll_loss_forward",
    "GeluKernelImpl": "gelu", "GroupNormKernelImpl": "group_normalization", "LayerNormKernelImpl": "layer_normalization",
    "aminmax_cpu": "histogram_bins", "batch_norm": "native_batch_norm", "bernoulli_scalar_cpu_": "bernoulli_number_fill",
    "bernoulli_tensor_cpu_self_": "bernoulli_draw bernoulli_tensor_fill", "elu_cpu": "celu_of",
    "grid_sampler3d_cpu": "grid_sampler_3d", "grid_sampler_2d_cpu_kernel_impl": "grid_sampler_2d",
    "huber_cpu": "huber_loss", "leaky_relu_cpu": "rrelu_with_noise", "max_values_cpu": "amax_dims",
    "maximum_cpu": "clamp_min_tensor", "median_cpu": "median_all nanmedian_all", "median_out": "median_dim nanmedian_dim",
    "min_values_cpu": "amin_dims", "minimum_cpu": "clamp_max_tensor", "mse_cpu": "mse_loss",
    "multi_margin_loss_cpu_kernel": "multi_margin_loss", "nll_loss2d_forward_out_frame": "nll_loss2d_forward",
    "random_kernel_cpu": "random_fill", "round_cpu": "round_decimals", "searchsorted_out_cpu": "insertion_points",
    "smooth_l1_cpu": "smooth_l1_loss", "softmax_lastdim_kernel_impl": "flash_attention", "softshrink_check": "softshrink",
    "trigamma": "polygamma_order", "unique": "distinct_runs", "unique_dim": "distinct_values",
}
_SENTENCES = {  # ops by PyTorch's sentence
    "* does not support complex inputs.": "isneginf isposinf",
    "* is not implemented for complex tensors.": "signbit",
    "* is not supported for complex inputs": "ceil floor trunc",
    "* is not supported for complex tensors.": "deg2rad rad2deg",
    "* is not yet implemented for complex tensors.": "heaviside",
    "* not implemented for complex tensors.": "fmax fmin maximum minimum",
    "* only supports floating-point dtypes": "pdist_forward",
    "* only supports floating-point dtypes for input, got: {}": "multinomial_draw",
    "*(): does not support complex input": "argmax_dim argmin_dim max_dim min_dim",
    " Sort does not support complex dtypes on CPU": "argsort_dim sort_dim sort_stable",
    " topk does not support complex dtypes on CPU": "topk_dim",
    "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, Double; but "
    "got CPU{}Type instead (while checking arguments for embedding_bag)": "embedding_bags",
    "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you specified {}":
        "exponential_fill",
    "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.": "sign",
    "Unsupported input type encountered for isin(): {}": "isin",
    "clamp is not supported for complex types":
        "clamp_max_number clamp_min_number clamp_numbers clamp_tensors hardtanh_of relu",
    "normal expects standard deviation to be non-complex": "normal_spread",
    "torch.frexp() only supports floating-point dtypes": "frexp",
}
_UNIMPLEMENTED = {"signbit", "ceil", "floor", "trunc", "sign", *_SENTENCES["clamp is not supported for complex types"].split()}
_ENDING = re.compile(
    "_(of|of_scalar|of_number|number|scalar|tensors?|dim|draw|to|windows|kernel|forward|with_indices|whole|from)$"
)
REAL_ONLY = {
    op: text.replace("*", _ENDING.sub("", op))
    for texts in (_KERNELS, _SENTENCES) for text, ops in texts.items() for op in ops.split()
}


def refuse_complex(op: str, array: Any) -> NoReturn:
    """Raise PyTorch's error for an op of complex numbers."""
    text, kind = REAL_ONLY[op], scalar_type(array)
    if " " not in text:
        raise NotImplementedError(f"\"{text}\" not implemented for '{kind}'")
    raise (NotImplementedError if op in _UNIMPLEMENTED else RuntimeError)(text.format(kind))
