"""Convolution, pooling, padding and resizing: values from PyTorch 2.13, and what they refuse in its words."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

F = av.nn.functional
ones = av.ones


def image(*shape: int, requires_grad: bool = False) -> av.Tensor:
    """0, 1, 2, ... in this shape."""
    return av.tensor(np.arange(np.prod(shape), dtype=float).reshape(shape), requires_grad=requires_grad)


def names(result: av.Tensor) -> list[str]:
    """The first nodes of the graph, from the result on."""
    found, node = [], result.grad_fn
    while node is not None and node.next_functions:
        found.append(node.name())
        node = node.next_functions[0][0]
    return found


def test_convolution_slides_the_kernel_over_the_image() -> None:
    out = F.conv2d(image(1, 1, 3, 3), av.tensor([[[[1.0, 0.0], [0.0, -1.0]]]], dtype=av.float64), av.tensor([10.0]).double())
    assert out.tolist() == [[[[6.0, 6.0], [6.0, 6.0]]]]


def test_a_single_image_becomes_a_batch_and_is_one_again() -> None:
    out = F.conv2d(image(1, 3, 3, requires_grad=True), image(2, 1, 2, 2))
    assert names(out) == ["SqueezeBackward1", "ConvolutionBackward0", "UnsqueezeBackward0"]
    assert out.shape == (2, 2, 2)


def test_same_padding_of_an_even_kernel_pads_the_end_once_more() -> None:
    with pytest.warns(UserWarning, match="padding='same' with even kernel lengths"):
        out = F.conv1d(image(1, 1, 3, requires_grad=True), ones(1, 1, 2, dtype=av.float64), padding="same")
    assert out.tolist() == [[[1.0, 3.0, 2.0]]]
    assert names(out) == ["ConvolutionBackward0", "ConstantPadNdBackward0"]


def test_a_convolution_without_bias_still_has_an_edge_for_it() -> None:
    node = F.conv2d(image(1, 1, 3, 3, requires_grad=True), image(1, 1, 2, 2)).grad_fn
    assert node.next_functions[1:] == ((None, 0), (None, 0))
    assert (node._saved_transposed, node._saved_stride, node._saved_groups) == (False, (1, 1), 1)


def test_the_transpose_of_a_convolution_gives_its_size_back() -> None:
    small = F.conv2d(image(1, 1, 6, 5), image(2, 1, 3, 2), stride=2, padding=1)
    big = F.conv_transpose2d(small, image(2, 1, 3, 2), stride=2, padding=1, output_padding=(1, 1))
    assert (small.shape, big.shape) == ((1, 2, 3, 3), (1, 1, 6, 5))


def test_of_equal_elements_the_first_is_the_largest() -> None:
    x = ones(1, 1, 2, 2, requires_grad=True)
    F.max_pool2d(x, 2).backward(ones(1, 1, 1, 1))
    assert x.grad.tolist() == [[[[1.0, 0.0], [0.0, 0.0]]]]


def test_max_pooling_keeps_nan_and_says_where_each_maximum_was() -> None:
    values, places = F.max_pool1d(av.tensor([[1.0, float("nan"), 3.0, 5.0, 4.0, 2.0]]), 3, 2, 1, return_indices=True)
    np.testing.assert_equal(values.numpy(), [[np.nan, np.nan, 5.0]])
    assert places.tolist() == [[1, 1, 3]]


@pytest.mark.parametrize("name", sorted(n for n in dir(F) if re.search(r"(pool|conv).*[123]d", n)))
def test_each_size_of_a_function_goes_by_its_public_name(name: str) -> None:
    function = getattr(F, name)
    with pytest.raises(TypeError, match=rf"^{name}\(\) missing \d required positional"):
        function()
    assert function.__name__ == name and function.__doc__ and "{" not in function.__doc__
    assert pickle.loads(pickle.dumps(function)) is function


def test_a_window_that_sticks_out_divides_by_what_is_in_it() -> None:
    x = image(1, 1, 5)
    assert F.avg_pool1d(x, 2, ceil_mode=True).tolist() == [[[0.5, 2.5, 4.0]]]
    assert F.avg_pool1d(x, 3, 2, 1, count_include_pad=False).tolist() == [[[0.5, 2.0, 3.5]]]
    assert F.avg_pool1d(x, 3, 2, 1).tolist() == [[[1 / 3, 2.0, 7 / 3]]]


def test_adaptive_pooling_to_one_element_is_a_mean() -> None:
    assert names(F.adaptive_avg_pool2d(image(1, 1, 4, 3, requires_grad=True), 1)) == ["MeanBackward1"]
    assert names(F.adaptive_avg_pool2d(image(1, 1, 4, 3, requires_grad=True), (1, None))) == ["AdaptiveAvgPool2DBackward0"]


def test_unpooling_puts_the_maxima_back() -> None:
    values, places = F.max_pool2d(image(1, 1, 4, 4), 2, return_indices=True)
    assert F.max_unpool2d(values, places, 2).tolist() == [[[[0, 0, 0, 0], [0, 5, 0, 7], [0, 0, 0, 0], [0, 13, 0, 15]]]]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("constant", [9, 9, 0, 1, 2, 9]), ("reflect", [2, 1, 0, 1, 2, 1]), ("replicate", [0, 0, 0, 1, 2, 2])],
)
def test_padding(mode: str, expected: list[int]) -> None:
    assert F.pad(image(1, 3), (2, 1), mode, 9 if mode == "constant" else None).tolist() == [expected]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("nearest", [0, 0, 1, 1, 2, 2]),
        ("nearest-exact", [0, 0, 1, 1, 2, 2]),
        ("linear", [0, 0.25, 0.75, 1.25, 1.75, 2]),
        ("area", [0, 0, 1, 1, 2, 2]),
    ],
)
def test_interpolation(mode: str, expected: list[float]) -> None:
    assert F.interpolate(image(1, 1, 3), scale_factor=2, mode=mode).tolist() == [[expected]]


def test_aligned_corners_keep_the_ends() -> None:
    assert F.interpolate(image(1, 1, 3), size=5, mode="linear", align_corners=True).tolist() == [[[0, 0.5, 1, 1.5, 2]]]


def test_what_is_folded_back_counts_how_often_it_was_seen() -> None:
    columns = F.unfold(ones(1, 1, 3, 3), 2)
    assert columns.shape == (1, 4, 4)
    assert F.fold(columns, 3, 2).tolist() == [[[[1, 2, 1], [2, 4, 2], [1, 2, 1]]]]


def test_shuffled_pixels_come_back() -> None:
    x = image(1, 8, 2, 3)
    assert F.pixel_shuffle(x, 2)[0, 0, 0].tolist() == [0, 6, 1, 7, 2, 8]
    assert F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2).tolist() == x.tolist()


def test_the_identity_grid_sees_the_image_as_it_is() -> None:
    theta = av.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]], dtype=av.float64)
    x = image(1, 1, 2, 3)
    for align_corners in (False, True):
        grid = F.affine_grid(theta, (1, 1, 2, 3), align_corners=align_corners)
        np.testing.assert_allclose(F.grid_sample(x, grid, align_corners=align_corners).numpy(), x.numpy(), atol=1e-12)


def test_a_point_beyond_the_border_is_mirrored_at_it() -> None:
    x, grid = image(1, 1, 1, 4), av.tensor([[[[1.75, 0.0], [-2.0, 0.0], [3.5, 0.0]]]], dtype=av.float64)
    sampled = F.grid_sample(x, grid, padding_mode="reflection", align_corners=False)
    assert sampled.tolist() == [[[[2.0, 1.5, 0.5]]]]
    assert F.grid_sample(x, grid, padding_mode="reflection", align_corners=True).tolist() == [[[[1.875, 1.5, 0.75]]]]


def test_rearranged_elements_are_a_copy_even_if_nothing_moves() -> None:
    x = image(1, 1, 2, 2)
    for result in (F.unfold(x, 1), F.pixel_shuffle(x, 1), F.pad(x, (0, 0, 0, 0), "replicate")):
        result.zero_()
    assert x.tolist() == [[[[0.0, 1.0], [2.0, 3.0]]]]


@pytest.mark.parametrize("dtype", [av.float16, av.float32])
def test_small_types_stay_what_they_are(dtype: Any) -> None:
    x = image(1, 4, 4, 4).to(dtype).requires_grad_(True)
    for result in (
        F.conv2d(x, ones(2, 4, 3, 3, dtype=dtype)),
        F.avg_pool2d(x, 2),
        F.max_pool2d(x, 2),
        F.interpolate(x, scale_factor=2, mode="bilinear"),
        F.pad(x, (1, 1, 1, 1), "reflect"),
    ):
        (grad,) = av.autograd.grad(result.sum(), [x])
        assert (result.dtype, grad.dtype) == (dtype, dtype)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: F.conv2d(ones(5), ones(4, 3, 3, 3)),
            RuntimeError,
            "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [5]",
        ),
        (
            lambda: F.conv2d(ones(1, 2, 5, 5), ones(4, 3, 3, 3)),
            RuntimeError,
            "Given groups=1, weight of size [4, 3, 3, 3], expected input[1, 2, 5, 5] to have 3 channels, but got 2 channels "
            "instead",
        ),
        (
            lambda: F.conv2d(ones(1, 3, 2, 2), ones(4, 3, 3, 3)),
            RuntimeError,
            "Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). Kernel size can't be greater than actual "
            "input size",
        ),
        (
            lambda: F.conv2d(ones(1, 3, 5, 5), ones(4, 3, 3, 3), padding="same", stride=2),
            RuntimeError,
            "padding='same' is not supported for strided convolutions",
        ),
        (
            lambda: F.max_pool2d(ones(1, 1, 2, 2), 3),
            RuntimeError,
            "Given input size: (1x2x2). Calculated output size: (1x0x0). Output size is too small",
        ),
        (
            lambda: F.max_pool2d(ones(1, 1, 5, 5), 2, dilation=0),
            RuntimeError,
            "dilation should be greater than zero, but got dilationH: 0 dilationW: 0",
        ),
        (
            lambda: F.max_pool2d(ones(1, 1, 5, 5), 2, padding=2),
            RuntimeError,
            "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and dilation=1",
        ),
        (
            lambda: F.pad(ones(1, 1, 3), (3, 3), "reflect"),
            RuntimeError,
            "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding (3, 3) at "
            "dimension 2 of input [1, 1, 3]",
        ),
        (lambda: F.interpolate(ones(1, 1, 3)), ValueError, "either size or scale_factor should be defined"),
        (
            lambda: F.interpolate(ones(1, 1, 3, 3), size=2, mode="linear"),
            NotImplementedError,
            "Got 4D input, but linear mode needs 3D input",
        ),
        (
            lambda: F.pixel_shuffle(ones(1, 3, 2, 2), 2),
            RuntimeError,
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            "input.size(-3)=3 is not divisible by 4",
        ),
        (
            lambda: F.grid_sample(ones(1, 1, 3, 3), ones(2, 1, 3, 2), align_corners=False),
            RuntimeError,
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes [1, 1, 3, 3] and grid "
            "with sizes [2, 1, 3, 2]",
        ),
    ],
)
def test_refusals(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
