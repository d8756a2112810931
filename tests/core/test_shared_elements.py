"""In-place ops on a view that holds an element of the memory several times write it several times, in PyTorch's order."""

import pytest

import autograd_viz as av

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

VIEWS = {
    "unfold of a row": lambda b: b.reshape(3, 4).unfold(-1, 2, 1),
    "unfold of a column": lambda b: b.reshape(3, 4).unfold(0, 2, 1),
    "unfold of a transposed matrix": lambda b: b.reshape(3, 4).t().unfold(-1, 3, 1),
    "overlapping rows": lambda b: b.as_strided((3, 4), (2, 1)),
    "overlapping columns": lambda b: b.as_strided((4, 3), (1, 2), 1),
    "three dimensions": lambda b: b.as_strided((2, 3, 2), (3, 2, 1)),
    "no element twice": lambda b: b.as_strided((3, 2), (4, 2)),
}
CHANGES = {
    "mul_": lambda v, o: v.mul_(3),
    "mul_ tensor": lambda v, o: v.mul_(o),
    "add_": lambda v, o: v.add_(o, alpha=2),
    "div_": lambda v, o: v.div_(o),
    "copy_": lambda v, o: v.copy_(o),
    "fill_": lambda v, o: v.fill_(7),
    "neg_": lambda v, o: v.neg_(),
    "clamp_": lambda v, o: v.clamp_(2, 3),
    "masked_fill_": lambda v, o: v.masked_fill_(o > 4, 9.0),
    "slice": lambda v, o: v.__setitem__(slice(None), o),
}


def changed(t, view, change):
    base = t.arange(1.0, 13.0)
    part = VIEWS[view](base)
    CHANGES[change](part, t.arange(2.0, 2.0 + part.numel()).reshape(part.shape))
    return base.tolist(), base._version


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("view", VIEWS)
def test_elements_that_share_memory_are_written_in_turn(view, change):
    values, version = changed(av, view, change)
    expected, expected_version = changed(torch, view, change)
    assert values == pytest.approx(expected, rel=1e-6)
    assert version == expected_version


@pytest.mark.parametrize("grad_mode", [True, False])
def test_the_grad_mode_does_not_matter(grad_mode):
    base = av.ones(2, 3)
    with av.set_grad_enabled(grad_mode):
        base.unfold(-1, 2, 1).mul_(3)
    assert base.tolist() == [[3, 9, 3]] * 2


@pytest.mark.parametrize("change", sorted(CHANGES.keys() - {"masked_fill_"}))  # deprecated there in PyTorch, refused here
def test_an_expanded_tensor_is_refused_where_pytorch_refuses_it(change):
    def answer(t):
        part = t.ones(3).expand(2, 3)
        try:
            CHANGES[change](part, t.arange(2.0, 8.0).reshape(2, 3))
        except RuntimeError as error:
            return str(error)
        return part.tolist()

    assert answer(av) == answer(torch)
