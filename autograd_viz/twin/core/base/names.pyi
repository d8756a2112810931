# Made by .ci/make_names.py.
# ruff: noqa: A004, E402, I001
from typing import Any

_upsample_nearest_exact1d: Any
_upsample_nearest_exact1d_backward: Any
_upsample_nearest_exact2d: Any
_upsample_nearest_exact2d_backward: Any
_upsample_nearest_exact3d: Any
_upsample_nearest_exact3d_backward: Any
adaptive_avg_pool2d_backward: Any
adaptive_avg_pool2d_to: Any
adaptive_avg_pool3d_backward: Any
adaptive_avg_pool3d_to: Any
adaptive_max_pool2d_backward: Any
adaptive_max_pool2d_to: Any
adaptive_max_pool3d_backward: Any
adaptive_max_pool3d_to: Any
adjoint: Any
as_strided_in_place: Any
avg_pool2d_backward: Any
avg_pool2d_windows: Any
avg_pool3d_backward: Any
avg_pool3d_windows: Any
conjugated: Any
grid_sampler_2d: Any
grid_sampler_2d_backward: Any
grid_sampler_2d_slope: Any
grid_sampler_3d: Any
grid_sampler_3d_backward: Any
grid_sampler_3d_slope: Any
max_pool2d_backward: Any
max_pool2d_with_indices: Any
max_pool3d_backward: Any
max_pool3d_with_indices: Any
reflection_pad1d: Any
reflection_pad1d_backward: Any
reflection_pad2d: Any
reflection_pad2d_backward: Any
reflection_pad3d: Any
reflection_pad3d_backward: Any
replication_pad1d: Any
replication_pad1d_backward: Any
replication_pad2d: Any
replication_pad2d_backward: Any
replication_pad3d: Any
replication_pad3d_backward: Any
squeeze_all_in_place: Any
squeeze_dim_in_place: Any
squeeze_dims_in_place: Any
t_in_place: Any
transpose_dims_in_place: Any
unsqueeze_in_place: Any
upsample_bicubic2d: Any
upsample_bicubic2d_backward: Any
upsample_bilinear2d: Any
upsample_bilinear2d_backward: Any
upsample_linear1d: Any
upsample_linear1d_backward: Any
upsample_nearest1d: Any
upsample_nearest1d_backward: Any
upsample_nearest2d: Any
upsample_nearest2d_backward: Any
upsample_nearest3d: Any
upsample_nearest3d_backward: Any
upsample_trilinear3d: Any
upsample_trilinear3d_backward: Any
from ..ops.activation.activation import bell as bell
from ..ops.activation.activation import celu_of as celu_of
from ..ops.activation.activation import elu_backward as elu_backward
from ..ops.activation.activation import elu_of as elu_of
from ..ops.activation.activation import gelu as gelu
from ..ops.activation.activation import gelu_backward as gelu_backward
from ..ops.activation.activation import gelu_curvature as gelu_curvature
from ..ops.activation.activation import gelu_inner as gelu_inner
from ..ops.activation.activation import gelu_inner_slope as gelu_inner_slope
from ..ops.activation.activation import gelu_slope as gelu_slope
from ..ops.activation.activation import glu_backward as glu_backward
from ..ops.activation.activation import glu_double_backward as glu_double_backward
from ..ops.activation.activation import glu_of as glu_of
from ..ops.activation.activation import glu_tangent as glu_tangent
from ..ops.activation.activation import halves as halves
from ..ops.activation.activation import log_sigmoid_backward as log_sigmoid_backward
from ..ops.activation.activation import log_sigmoid_forward as log_sigmoid_forward
from ..ops.activation.activation import mish_backward as mish_backward
from ..ops.activation.activation import mish_of as mish_of
from ..ops.activation.activation import sigmoid as sigmoid
from ..ops.activation.activation import sigmoid_backward as sigmoid_backward
from ..ops.activation.activation import silu_of as silu_of
from ..ops.activation.activation import softplus as softplus
from ..ops.activation.activation import softplus_backward as softplus_backward
from ..ops.activation.activation import tanh as tanh
from ..ops.activation.activation import tanh_backward as tanh_backward
from ..ops.activation.activation_kinked import hardshrink as hardshrink
from ..ops.activation.activation_kinked import hardsigmoid_of as hardsigmoid_of
from ..ops.activation.activation_kinked import hardswish_backward as hardswish_backward
from ..ops.activation.activation_kinked import hardswish_of as hardswish_of
from ..ops.activation.activation_kinked import hardtanh_backward as hardtanh_backward
from ..ops.activation.activation_kinked import hardtanh_of as hardtanh_of
from ..ops.activation.activation_kinked import leaky_relu_backward as leaky_relu_backward
from ..ops.activation.activation_kinked import leaky_relu_of as leaky_relu_of
from ..ops.activation.activation_kinked import prelu_kernel as prelu_kernel
from ..ops.activation.activation_kinked import relu as relu
from ..ops.activation.activation_kinked import rrelu_with_noise as rrelu_with_noise
from ..ops.activation.activation_kinked import shrink_backward as shrink_backward
from ..ops.activation.activation_kinked import softshrink as softshrink
from ..ops.activation.activation_kinked import threshold_backward as threshold_backward
from ..ops.activation.activation_kinked import threshold_of as threshold_of
from ..ops.activation.softmax import log_softmax_backward_data as log_softmax_backward_data
from ..ops.activation.softmax import log_softmax_dim as log_softmax_dim
from ..ops.activation.softmax import logsumexp_dims as logsumexp_dims
from ..ops.activation.softmax import safe_softmax_dim as safe_softmax_dim
from ..ops.activation.softmax import softmax_backward_data as softmax_backward_data
from ..ops.activation.softmax import softmax_dim as softmax_dim
from ..ops.activation.softmax import sum_along as sum_along
from ..ops.elementwise.arithmetic import add as add
from ..ops.elementwise.arithmetic import add_scalar as add_scalar
from ..ops.elementwise.arithmetic import addcdiv as addcdiv
from ..ops.elementwise.arithmetic import addcmul as addcmul
from ..ops.elementwise.arithmetic import div_scalar as div_scalar
from ..ops.elementwise.arithmetic import div_tensors as div_tensors
from ..ops.elementwise.arithmetic import lerp_scalar as lerp_scalar
from ..ops.elementwise.arithmetic import lerp_tensor as lerp_tensor
from ..ops.elementwise.arithmetic import maybe_multiply as maybe_multiply
from ..ops.elementwise.arithmetic import mul as mul
from ..ops.elementwise.arithmetic import mul_scalar as mul_scalar
from ..ops.elementwise.arithmetic import neg as neg
from ..ops.elementwise.arithmetic import reciprocal as reciprocal
from ..ops.elementwise.arithmetic import rsub_scalar as rsub_scalar
from ..ops.elementwise.arithmetic import rsub_tensor as rsub_tensor
from ..ops.elementwise.arithmetic import sub as sub
from ..ops.elementwise.arithmetic import sub_scalar as sub_scalar
from ..ops.elementwise.arithmetic import zeros_like as zeros_like
from ..ops.elementwise.augmented import fill_scalar as fill_scalar
from ..ops.elementwise.augmented import fill_tensor as fill_tensor
from ..ops.elementwise.augmented import refill_scalar as refill_scalar
from ..ops.elementwise.augmented import refill_tensor as refill_tensor
from ..ops.elementwise.augmented import zero as zero
from ..ops.elementwise.casts import to_copy as to_copy
from ..ops.elementwise.choosing import bitwise_and as bitwise_and
from ..ops.elementwise.choosing import bitwise_left_shift as bitwise_left_shift
from ..ops.elementwise.choosing import bitwise_not as bitwise_not
from ..ops.elementwise.choosing import bitwise_or as bitwise_or
from ..ops.elementwise.choosing import bitwise_right_shift as bitwise_right_shift
from ..ops.elementwise.choosing import bitwise_xor as bitwise_xor
from ..ops.elementwise.choosing import clamp_max_number as clamp_max_number
from ..ops.elementwise.choosing import clamp_max_tensor as clamp_max_tensor
from ..ops.elementwise.choosing import clamp_min_number as clamp_min_number
from ..ops.elementwise.choosing import clamp_min_tensor as clamp_min_tensor
from ..ops.elementwise.choosing import clamp_numbers as clamp_numbers
from ..ops.elementwise.choosing import clamp_tensors as clamp_tensors
from ..ops.elementwise.choosing import eq as eq
from ..ops.elementwise.choosing import fmax as fmax
from ..ops.elementwise.choosing import fmin as fmin
from ..ops.elementwise.choosing import ge as ge
from ..ops.elementwise.choosing import gt as gt
from ..ops.elementwise.choosing import isclose as isclose
from ..ops.elementwise.choosing import isfinite as isfinite
from ..ops.elementwise.choosing import isin as isin
from ..ops.elementwise.choosing import isinf as isinf
from ..ops.elementwise.choosing import isnan as isnan
from ..ops.elementwise.choosing import isneginf as isneginf
from ..ops.elementwise.choosing import isposinf as isposinf
from ..ops.elementwise.choosing import isreal as isreal
from ..ops.elementwise.choosing import le as le
from ..ops.elementwise.choosing import logical_and as logical_and
from ..ops.elementwise.choosing import logical_not as logical_not
from ..ops.elementwise.choosing import logical_or as logical_or
from ..ops.elementwise.choosing import logical_xor as logical_xor
from ..ops.elementwise.choosing import lt as lt
from ..ops.elementwise.choosing import maximum as maximum
from ..ops.elementwise.choosing import minimum as minimum
from ..ops.elementwise.choosing import ne as ne
from ..ops.elementwise.choosing import signbit as signbit
from ..ops.elementwise.choosing import where as where
from ..ops.elementwise.choosing import where_tensors as where_tensors
from ..ops.elementwise.choosing import within as within
from ..ops.elementwise.complex_numbers import complex_of as complex_of
from ..ops.elementwise.complex_numbers import conj as conj
from ..ops.elementwise.complex_numbers import conjugate_copy as conjugate_copy
from ..ops.elementwise.complex_numbers import imaginary_part as imaginary_part
from ..ops.elementwise.complex_numbers import is_complex as is_complex
from ..ops.elementwise.complex_numbers import polar_of as polar_of
from ..ops.elementwise.complex_numbers import real_part as real_part
from ..ops.elementwise.complex_numbers import view_as_complex as view_as_complex
from ..ops.elementwise.complex_numbers import view_as_real as view_as_real
from ..ops.elementwise.powers import exp as exp
from ..ops.elementwise.powers import exp2 as exp2
from ..ops.elementwise.powers import expm1 as expm1
from ..ops.elementwise.powers import frexp as frexp
from ..ops.elementwise.powers import hypot as hypot
from ..ops.elementwise.powers import ldexp as ldexp
from ..ops.elementwise.powers import log as log
from ..ops.elementwise.powers import log10 as log10
from ..ops.elementwise.powers import log1p as log1p
from ..ops.elementwise.powers import log2 as log2
from ..ops.elementwise.powers import log_of as log_of
from ..ops.elementwise.powers import logaddexp as logaddexp
from ..ops.elementwise.powers import logaddexp2 as logaddexp2
from ..ops.elementwise.powers import pow as pow
from ..ops.elementwise.powers import pow_backward as pow_backward
from ..ops.elementwise.powers import pow_backward_exponent as pow_backward_exponent
from ..ops.elementwise.powers import pow_scalar as pow_scalar
from ..ops.elementwise.powers import pow_tensor as pow_tensor
from ..ops.elementwise.powers import rpow_scalar as rpow_scalar
from ..ops.elementwise.powers import rsqrt as rsqrt
from ..ops.elementwise.powers import sqrt as sqrt
from ..ops.elementwise.rounding import abs as abs
from ..ops.elementwise.rounding import angle as angle
from ..ops.elementwise.rounding import angle_backward as angle_backward
from ..ops.elementwise.rounding import ceil as ceil
from ..ops.elementwise.rounding import copysign_scalar as copysign_scalar
from ..ops.elementwise.rounding import copysign_tensor as copysign_tensor
from ..ops.elementwise.rounding import div_rounded as div_rounded
from ..ops.elementwise.rounding import floor as floor
from ..ops.elementwise.rounding import floor_divide as floor_divide
from ..ops.elementwise.rounding import fmod_scalar as fmod_scalar
from ..ops.elementwise.rounding import fmod_tensor as fmod_tensor
from ..ops.elementwise.rounding import frac as frac
from ..ops.elementwise.rounding import gcd as gcd
from ..ops.elementwise.rounding import heaviside as heaviside
from ..ops.elementwise.rounding import lcm as lcm
from ..ops.elementwise.rounding import nan_to_num as nan_to_num
from ..ops.elementwise.rounding import nextafter as nextafter
from ..ops.elementwise.rounding import no_derivative as no_derivative
from ..ops.elementwise.rounding import no_derivative_of as no_derivative_of
from ..ops.elementwise.rounding import remainder_of_scalar as remainder_of_scalar
from ..ops.elementwise.rounding import remainder_scalar as remainder_scalar
from ..ops.elementwise.rounding import remainder_tensor as remainder_tensor
from ..ops.elementwise.rounding import round_decimals as round_decimals
from ..ops.elementwise.rounding import round_whole as round_whole
from ..ops.elementwise.rounding import sgn as sgn
from ..ops.elementwise.rounding import sgn_backward as sgn_backward
from ..ops.elementwise.rounding import sign as sign
from ..ops.elementwise.rounding import trunc as trunc
from ..ops.elementwise.special import digamma as digamma
from ..ops.elementwise.special import entr as entr
from ..ops.elementwise.special import erf as erf
from ..ops.elementwise.special import erfc as erfc
from ..ops.elementwise.special import erfcx as erfcx
from ..ops.elementwise.special import erfinv as erfinv
from ..ops.elementwise.special import lgamma as lgamma
from ..ops.elementwise.special import log_ndtr as log_ndtr
from ..ops.elementwise.special import logit as logit
from ..ops.elementwise.special import logit_backward as logit_backward
from ..ops.elementwise.special import ndtr as ndtr
from ..ops.elementwise.special import ndtri as ndtri
from ..ops.elementwise.special import polygamma_order as polygamma_order
from ..ops.elementwise.special import xlogy_number as xlogy_number
from ..ops.elementwise.special import xlogy_of_number as xlogy_of_number
from ..ops.elementwise.special import xlogy_tensors as xlogy_tensors
from ..ops.elementwise.trigonometry import acos as acos
from ..ops.elementwise.trigonometry import acosh as acosh
from ..ops.elementwise.trigonometry import asin as asin
from ..ops.elementwise.trigonometry import asinh as asinh
from ..ops.elementwise.trigonometry import atan as atan
from ..ops.elementwise.trigonometry import atan2 as atan2
from ..ops.elementwise.trigonometry import atanh as atanh
from ..ops.elementwise.trigonometry import cos as cos
from ..ops.elementwise.trigonometry import cosh as cosh
from ..ops.elementwise.trigonometry import deg2rad as deg2rad
from ..ops.elementwise.trigonometry import over_square as over_square
from ..ops.elementwise.trigonometry import rad2deg as rad2deg
from ..ops.elementwise.trigonometry import sin as sin
from ..ops.elementwise.trigonometry import sinc as sinc
from ..ops.elementwise.trigonometry import sinh as sinh
from ..ops.elementwise.trigonometry import tan as tan
from ..ops.index.advanced_index import argwhere as argwhere
from ..ops.index.advanced_index import index_put_tensors as index_put_tensors
from ..ops.index.advanced_index import index_tensors as index_tensors
from ..ops.index.advanced_index import masked_fill_scalar as masked_fill_scalar
from ..ops.index.advanced_index import masked_fill_tensor as masked_fill_tensor
from ..ops.index.advanced_index import masked_scatter_backward as masked_scatter_backward
from ..ops.index.advanced_index import masked_scatter_values as masked_scatter_values
from ..ops.index.advanced_index import masked_select as masked_select
from ..ops.index.advanced_index import nonzero_along_dims as nonzero_along_dims
from ..ops.index.embedding import embedding as embedding
from ..ops.index.embedding import embedding_dense_backward as embedding_dense_backward
from ..ops.index.embedding import one_hot_rows as one_hot_rows
from ..ops.index.embedding import rows_but_padding as rows_but_padding
from ..ops.index.gather_scatter import distinct as distinct
from ..ops.index.gather_scatter import gather as gather
from ..ops.index.gather_scatter import index_add as index_add
from ..ops.index.gather_scatter import index_copy as index_copy
from ..ops.index.gather_scatter import index_fill_scalar as index_fill_scalar
from ..ops.index.gather_scatter import index_fill_tensor as index_fill_tensor
from ..ops.index.gather_scatter import index_select as index_select
from ..ops.index.gather_scatter import picked as picked
from ..ops.index.gather_scatter import put_values as put_values
from ..ops.index.gather_scatter import reshape_as as reshape_as
from ..ops.index.gather_scatter import scatter as scatter
from ..ops.index.gather_scatter import scatter_add as scatter_add
from ..ops.index.gather_scatter import scatter_combined as scatter_combined
from ..ops.index.gather_scatter import scatter_scalar as scatter_scalar
from ..ops.index.gather_scatter import take as take
from ..ops.layers.attention import attention_scores as attention_scores
from ..ops.layers.attention import attention_slope as attention_slope
from ..ops.layers.attention import attention_weights as attention_weights
from ..ops.layers.attention import flash_attention as flash_attention
from ..ops.layers.attention import like_query as like_query
from ..ops.layers.attention import scale_of as scale_of
from ..ops.layers.attention import shared_heads as shared_heads
from ..ops.layers.attention import swap_last as swap_last
from ..ops.layers.convolution import convolution as convolution
from ..ops.layers.convolution import convolution_backward_input as convolution_backward_input
from ..ops.layers.convolution import convolution_backward_weight as convolution_backward_weight
from ..ops.layers.normalization import batch_norm_backward as batch_norm_backward
from ..ops.layers.normalization import by_channel as by_channel
from ..ops.layers.normalization import group_norm_backward as group_norm_backward
from ..ops.layers.normalization import group_normalization as group_normalization
from ..ops.layers.normalization import in_groups as in_groups
from ..ops.layers.normalization import known_mean as known_mean
from ..ops.layers.normalization import known_rstd as known_rstd
from ..ops.layers.normalization import last_dims as last_dims
from ..ops.layers.normalization import layer_normalization as layer_normalization
from ..ops.layers.normalization import native_batch_norm as native_batch_norm
from ..ops.layers.normalization import normalization_backward as normalization_backward
from ..ops.layers.normalization import normalized as normalized
from ..ops.layers.normalization import per_channel as per_channel
from ..ops.layers.normalization import per_channel_sum as per_channel_sum
from ..ops.layers.normalization import scaled as scaled
from ..ops.layers.padding import constant_pad_nd as constant_pad_nd
from ..ops.layers.pooling import gather_in_planes as gather_in_planes
from ..ops.layers.pooling import max_unpool2d_to as max_unpool2d_to
from ..ops.layers.pooling import max_unpool3d_to as max_unpool3d_to
from ..ops.layers.pooling import scatter_in_planes as scatter_in_planes
from ..ops.layers.windows import op_named as op_named
from ..ops.loss.loss import huber_loss as huber_loss
from ..ops.loss.loss import huber_slope as huber_slope
from ..ops.loss.loss import mse_loss as mse_loss
from ..ops.loss.loss import mse_loss_backward as mse_loss_backward
from ..ops.loss.loss import numel_of as numel_of
from ..ops.loss.loss import per_term as per_term
from ..ops.loss.loss import smooth_l1_loss as smooth_l1_loss
from ..ops.loss.loss import smooth_l1_slope as smooth_l1_slope
from ..ops.loss.loss_classes import away_from_zero as away_from_zero
from ..ops.loss.loss_classes import binary_cross_entropy as binary_cross_entropy
from ..ops.loss.loss_classes import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from ..ops.loss.loss_classes import log_above as log_above
from ..ops.loss.loss_classes import log_of_sigmoid as log_of_sigmoid
from ..ops.loss.loss_classes import nll_loss2d_backward as nll_loss2d_backward
from ..ops.loss.loss_classes import nll_loss2d_forward as nll_loss2d_forward
from ..ops.loss.loss_classes import nll_loss_backward as nll_loss_backward
from ..ops.loss.loss_classes import nll_loss_forward as nll_loss_forward
from ..ops.loss.loss_classes import soft_margin_loss as soft_margin_loss
from ..ops.loss.loss_classes import weighted as weighted
from ..ops.matrix.matmul import bmm as bmm
from ..ops.matrix.matmul import dot as dot
from ..ops.matrix.matmul import ger as ger
from ..ops.matrix.matmul import mT as mT
from ..ops.matrix.matmul import mm as mm
from ..ops.matrix.matmul import mv as mv
from ..ops.matrix.matrix_checks import identity as identity
from ..ops.matrix.matrix_checks import mH as mH
from ..ops.matrix.matrix_checks import of_matrix as of_matrix
from ..ops.matrix.matrix_checks import resized as resized
from ..ops.matrix.matrix_products import addbmm as addbmm
from ..ops.matrix.matrix_products import addmm as addmm
from ..ops.matrix.matrix_products import addmv as addmv
from ..ops.matrix.matrix_products import addr as addr
from ..ops.matrix.matrix_products import baddbmm as baddbmm
from ..ops.matrix.matrix_products import linalg_cross as linalg_cross
from ..ops.matrix.matrix_products import trilinear as trilinear
from ..ops.matrix.matrix_products import vdot as vdot
from ..ops.random.random import bernoulli_draw as bernoulli_draw
from ..ops.random.random import bernoulli_number_fill as bernoulli_number_fill
from ..ops.random.random import bernoulli_tensor_fill as bernoulli_tensor_fill
from ..ops.random.random import exponential_fill as exponential_fill
from ..ops.random.random import multinomial_draw as multinomial_draw
from ..ops.random.random import normal_around as normal_around
from ..ops.random.random import normal_both as normal_both
from ..ops.random.random import normal_fill as normal_fill
from ..ops.random.random import normal_spread as normal_spread
from ..ops.random.random import poisson as poisson
from ..ops.random.random import random_fill as random_fill
from ..ops.random.random import uniform_fill as uniform_fill
from ..ops.reduce.arranging import argsort_dim as argsort_dim
from ..ops.reduce.arranging import flip as flip
from ..ops.reduce.arranging import flip_dims as flip_dims
from ..ops.reduce.arranging import repeat_backward as repeat_backward
from ..ops.reduce.arranging import repeat_dims as repeat_dims
from ..ops.reduce.arranging import roll_dims as roll_dims
from ..ops.reduce.arranging import rot90_dims as rot90_dims
from ..ops.reduce.arranging import sort_dim as sort_dim
from ..ops.reduce.arranging import sort_stable as sort_stable
from ..ops.reduce.arranging import topk_dim as topk_dim
from ..ops.reduce.cumulative import cummax_dim as cummax_dim
from ..ops.reduce.cumulative import cummaxmin_backward as cummaxmin_backward
from ..ops.reduce.cumulative import cummin_dim as cummin_dim
from ..ops.reduce.cumulative import cumprod_backward as cumprod_backward
from ..ops.reduce.cumulative import cumprod_dim as cumprod_dim
from ..ops.reduce.cumulative import cumsum_dim as cumsum_dim
from ..ops.reduce.cumulative import logcumsumexp_backward as logcumsumexp_backward
from ..ops.reduce.cumulative import logcumsumexp_dim as logcumsumexp_dim
from ..ops.reduce.cumulative import prod_all as prod_all
from ..ops.reduce.cumulative import prod_backward as prod_backward
from ..ops.reduce.cumulative import prod_dim as prod_dim
from ..ops.reduce.cumulative import prod_of_others as prod_of_others
from ..ops.reduce.cumulative import prod_of_others_backward as prod_of_others_backward
from ..ops.reduce.cumulative import reversed_cumsum as reversed_cumsum
from ..ops.reduce.cumulative import reversed_logcumsumexp as reversed_logcumsumexp
from ..ops.reduce.dims import keep_dims as keep_dims
from ..ops.reduce.dims import put_at as put_at
from ..ops.reduce.dims import take_at as take_at
from ..ops.reduce.extrema import amax_dims as amax_dims
from ..ops.reduce.extrema import amin_dims as amin_dims
from ..ops.reduce.extrema import aminmax_dim as aminmax_dim
from ..ops.reduce.extrema import argmax_dim as argmax_dim
from ..ops.reduce.extrema import argmin_dim as argmin_dim
from ..ops.reduce.extrema import is_same as is_same
from ..ops.reduce.extrema import kthvalue_dim as kthvalue_dim
from ..ops.reduce.extrema import max_all as max_all
from ..ops.reduce.extrema import max_dim as max_dim
from ..ops.reduce.extrema import median_all as median_all
from ..ops.reduce.extrema import median_dim as median_dim
from ..ops.reduce.extrema import min_all as min_all
from ..ops.reduce.extrema import min_dim as min_dim
from ..ops.reduce.extrema import mode_dim as mode_dim
from ..ops.reduce.extrema import nanmedian_all as nanmedian_all
from ..ops.reduce.extrema import nanmedian_dim as nanmedian_dim
from ..ops.reduce.extrema import shared as shared
from ..ops.reduce.norms import dist as dist
from ..ops.reduce.norms import norm_backward as norm_backward
from ..ops.reduce.norms import norm_dims as norm_dims
from ..ops.reduce.norms import other_dims as other_dims
from ..ops.reduce.norms import renorm_backward as renorm_backward
from ..ops.reduce.norms import renorm_dim as renorm_dim
from ..ops.reduce.norms import vector_norm_dims as vector_norm_dims
from ..ops.reduce.reduction import all_dims as all_dims
from ..ops.reduce.reduction import any_dims as any_dims
from ..ops.reduce.reduction import count_nonzero_dims as count_nonzero_dims
from ..ops.reduce.reduction import degrees_of_freedom as degrees_of_freedom
from ..ops.reduce.reduction import mean_all as mean_all
from ..ops.reduce.reduction import mean_dim as mean_dim
from ..ops.reduce.reduction import mean_divisor as mean_divisor
from ..ops.reduce.reduction import nansum_dim as nansum_dim
from ..ops.reduce.reduction import sqrt_backward as sqrt_backward
from ..ops.reduce.reduction import std_dims as std_dims
from ..ops.reduce.reduction import std_mean_dims as std_mean_dims
from ..ops.reduce.reduction import sum_all as sum_all
from ..ops.reduce.reduction import sum_backward as sum_backward
from ..ops.reduce.reduction import sum_dim as sum_dim
from ..ops.reduce.reduction import var_backward as var_backward
from ..ops.reduce.reduction import var_dims as var_dims
from ..ops.reduce.reduction import var_mean_dims as var_mean_dims
from ..ops.shape.diagonals import diag_embed as diag_embed
from ..ops.shape.diagonals import diagonal_copy as diagonal_copy
from ..ops.shape.diagonals import trace as trace
from ..ops.shape.diagonals import tril as tril
from ..ops.shape.diagonals import triu as triu
from ..ops.shape.joining import block_diag_backward as block_diag_backward
from ..ops.shape.joining import block_diag_tensors as block_diag_tensors
from ..ops.shape.joining import cat as cat
from ..ops.shape.joining import cat_backward as cat_backward
from ..ops.shape.joining import cat_tensors as cat_tensors
from ..ops.shape.joining import stack as stack
from ..ops.shape.joining import stack_tensors as stack_tensors
from ..ops.shape.shape import alias as alias
from ..ops.shape.shape import as_strided as as_strided
from ..ops.shape.shape import as_strided_backward as as_strided_backward
from ..ops.shape.shape import as_strided_read as as_strided_read
from ..ops.shape.shape import clone as clone
from ..ops.shape.shape import copy_into as copy_into
from ..ops.shape.shape import detach as detach
from ..ops.shape.shape import expand as expand
from ..ops.shape.shape import expand_sizes as expand_sizes
from ..ops.shape.shape import inverse_order as inverse_order
from ..ops.shape.shape import permute_dims as permute_dims
from ..ops.shape.shape import reshape as reshape
from ..ops.shape.shape import reshape_alias as reshape_alias
from ..ops.shape.shape import squeeze_all as squeeze_all
from ..ops.shape.shape import squeeze_dim as squeeze_dim
from ..ops.shape.shape import squeeze_dims as squeeze_dims
from ..ops.shape.shape import sum_to as sum_to
from ..ops.shape.shape import t as t
from ..ops.shape.shape import transpose_dims as transpose_dims
from ..ops.shape.shape import unsafe_view as unsafe_view
from ..ops.shape.shape import unsqueeze as unsqueeze
from ..ops.shape.shape import view_bits as view_bits
from ..ops.shape.shape import view_sizes as view_sizes
from ..ops.shape.slicing import diagonal as diagonal
from ..ops.shape.slicing import diagonal_backward as diagonal_backward
from ..ops.shape.slicing import new_zeros as new_zeros
from ..ops.shape.slicing import select as select
from ..ops.shape.slicing import select_backward as select_backward
from ..ops.shape.slicing import slice_backward as slice_backward
from ..ops.shape.slicing import slice_dim as slice_dim
from ..ops.shape.slicing import split_equally as split_equally
from ..ops.shape.slicing import split_with_lengths as split_with_lengths
from ..ops.shape.slicing import unbind_dim as unbind_dim
from ..ops.shape.slicing import unfold_backward as unfold_backward
from ..ops.shape.slicing import unfold_windows as unfold_windows
from ..ops_more.counting import count_values as count_values
from ..ops_more.counting import distinct_runs as distinct_runs
from ..ops_more.counting import distinct_values as distinct_values
from ..ops_more.counting import histogram_bins as histogram_bins
from ..ops_more.counting import insertion_points as insertion_points
from ..ops_more.ctc import ctc_loss_backward as ctc_loss_backward
from ..ops_more.ctc import ctc_loss_forward as ctc_loss_forward
from ..ops_more.decompositions import eig_backward as eig_backward
from ..ops_more.decompositions import eig_tensor as eig_tensor
from ..ops_more.decompositions import eigh_backward as eigh_backward
from ..ops_more.decompositions import eigh_tensor as eigh_tensor
from ..ops_more.decompositions import qr_backward as qr_backward
from ..ops_more.decompositions import qr_tensor as qr_tensor
from ..ops_more.decompositions import svd_backward as svd_backward
from ..ops_more.decompositions import svd_tensor as svd_tensor
from ..ops_more.distances import cdist_backward as cdist_backward
from ..ops_more.distances import cdist_forward as cdist_forward
from ..ops_more.distances import euclidean_dist as euclidean_dist
from ..ops_more.distances import euclidean_dist_backward as euclidean_dist_backward
from ..ops_more.distances import p_norm_backward as p_norm_backward
from ..ops_more.distances import pair_differences as pair_differences
from ..ops_more.distances import pdist_backward as pdist_backward
from ..ops_more.distances import pdist_forward as pdist_forward
from ..ops_more.embedding_bag import embedding_bag_backward as embedding_bag_backward
from ..ops_more.embedding_bag import embedding_bags as embedding_bags
from ..ops_more.embedding_bag import per_sample_weights_backward as per_sample_weights_backward
from ..ops_more.fourier import fft_c2c as fft_c2c
from ..ops_more.fourier import fft_c2r as fft_c2r
from ..ops_more.fourier import fft_c2r_backward as fft_c2r_backward
from ..ops_more.fourier import fft_r2c as fft_r2c
from ..ops_more.fourier import fft_r2c_backward as fft_r2c_backward
from ..ops_more.fourier import times_heard as times_heard
from ..ops_more.grid_sampling import affine_grid_generator as affine_grid_generator
from ..ops_more.grid_sampling import affine_grid_generator_backward as affine_grid_generator_backward
from ..ops_more.grid_sampling import grid_gradient as grid_gradient
from ..ops_more.grid_sampling import grid_input_gradient as grid_input_gradient
from ..ops_more.image_layers import col2im as col2im
from ..ops_more.image_layers import im2col as im2col
from ..ops_more.image_layers import pixel_shuffle_by as pixel_shuffle_by
from ..ops_more.image_layers import pixel_unshuffle_by as pixel_unshuffle_by
from ..ops_more.least_squares import lstsq_backward as lstsq_backward
from ..ops_more.least_squares import lstsq_backward_b as lstsq_backward_b
from ..ops_more.least_squares import lstsq_tensors as lstsq_tensors
from ..ops_more.least_squares import pinv_backward as pinv_backward
from ..ops_more.least_squares import pinv_tensor as pinv_tensor
from ..ops_more.losses import multi_margin_loss as multi_margin_loss
from ..ops_more.losses import multi_margin_loss_backward as multi_margin_loss_backward
from ..ops_more.scatter_reduce import how_many as how_many
from ..ops_more.scatter_reduce import product_of_others as product_of_others
from ..ops_more.scatter_reduce import product_of_sources as product_of_sources
from ..ops_more.scatter_reduce import scatter_reduce_src as scatter_reduce_src
from ..ops_more.scatter_reduce import ties as ties
from ..ops_more.solving import cofactors as cofactors
from ..ops_more.solving import cofactors_backward as cofactors_backward
from ..ops_more.solving import det_tensor as det_tensor
from ..ops_more.solving import linalg_inv_ex as linalg_inv_ex
from ..ops_more.solving import linalg_lu as linalg_lu
from ..ops_more.solving import linalg_solve_ex as linalg_solve_ex
from ..ops_more.solving import log_det_gradient as log_det_gradient
from ..ops_more.solving import lu_backward as lu_backward
from ..ops_more.solving import matrix_exp as matrix_exp
from ..ops_more.solving import matrix_exp_backward as matrix_exp_backward
from ..ops_more.solving import slogdet_tensor as slogdet_tensor
from ..ops_more.solving import solve_backward as solve_backward
from ..ops_more.triangular import cholesky_backward as cholesky_backward
from ..ops_more.triangular import cholesky_factor_gradient as cholesky_factor_gradient
from ..ops_more.triangular import cholesky_inverse_tensor as cholesky_inverse_tensor
from ..ops_more.triangular import cholesky_solve_tensors as cholesky_solve_tensors
from ..ops_more.triangular import cholesky_tensor as cholesky_tensor
from ..ops_more.triangular import factor_gradient as factor_gradient
from ..ops_more.triangular import linalg_cholesky_ex as linalg_cholesky_ex
from ..ops_more.triangular import linalg_solve_triangular as linalg_solve_triangular
from ..ops_more.triangular import triangle as triangle
from ..ops_more.triangular import triangular_solve_backward as triangular_solve_backward
from ..ops_more.triangular import triangular_solve_tensors as triangular_solve_tensors
