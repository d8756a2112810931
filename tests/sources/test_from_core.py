"""What the document says of a program: names, places in the code, and the graph as it is."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import autograd_viz as av
from autograd_viz.graph import Document
from autograd_viz.graph.model import Formula
from autograd_viz.sources.shared.formulas import symbolic_formulas
from autograd_viz.sources.shared.names import names_by_identity, visible_names
from autograd_viz.sources.twin.graph import CoreGraph, is_tensor

from ..figures import figure, run


def document_of(root: av.Tensor, names: dict[str, Any]) -> Document:
    return CoreGraph([root], names).document


def test_boxes_are_called_as_the_callers_variables_are() -> None:
    weights = [av.tensor(1.0, requires_grad=True), av.tensor(2.0, requires_grad=True)]
    table = {"bias": av.tensor(3.0, requires_grad=True)}
    out = weights[0] * weights[1] + table["bias"]
    figure = av.show(out)
    assert [t.name for t in figure.document.tensors] == ["weights[0]", "weights[1]", "table['bias']", None, "out"]


def test_parameters_are_called_as_the_module_calls_them() -> None:
    class Line(av.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = av.nn.Parameter(av.tensor(2.0))

        def forward(self, x: av.Tensor) -> av.Tensor:
            return self.w * x

    model = Line()
    y = model(av.tensor(3.0))
    assert [t.name for t in av.show(y).document.tensors] == ["model.w", None, "y"]


def test_a_plain_variable_wins_over_a_list_element() -> None:
    x = av.tensor(1.0)
    xs = [x]
    assert av.show(xs[0]).document.tensors[0].name == "x"


def test_ipythons_own_names_are_left_out() -> None:
    namespace = {"get_ipython": 1, "In": [], "Out": {}, "_": av.tensor(1.0), "_3": av.tensor(1.0), "x": 2, "__name__": "x"}

    class Frame:
        f_code = compile("", "<a cell>", "exec")
        f_globals = namespace
        f_locals = namespace

    assert visible_names(Frame()) == {"get_ipython": 1, "x": 2}  # type: ignore[arg-type]


def test_what_cannot_be_asked_is_no_variable() -> None:
    class Gone:
        pass

    gone = Gone()
    proxy, kept = weakref.proxy(gone), av.ones(2, requires_grad=True)
    del gone
    pairs = names_by_identity({"proxy": proxy, "several": [proxy, kept]}, is_tensor)
    assert [name for name, _ in pairs] == ["several[1]"]


def test_a_parameter_is_called_by_its_path_and_what_self_holds_by_that() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.net, self.scale = av.nn.Linear(1, 1), av.ones(1)

    trainer = Trainer()
    pairs = names_by_identity({"self": trainer, "p": trainer.net.weight}, is_tensor)
    assert next(name for name, t in pairs if t is trainer.net.weight) == "self.net.weight"
    assert next(name for name, t in pairs if t is trainer.scale) == "self.scale"


def test_a_buffer_is_called_by_its_path() -> None:
    norm = av.nn.BatchNorm1d(1)
    found = [name for name, _ in names_by_identity({"norm": norm, "mean": norm.running_mean}, is_tensor)]
    assert found == [*(f"norm.{k}" for k in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")), "mean"]


def test_a_function_that_asks_lets_go_of_its_variables() -> None:
    def ask() -> weakref.ref[Any]:
        kept = av.ones(2)
        names = visible_names(sys._getframe())
        assert names["kept"] is kept
        reference = weakref.ref(kept)
        del kept, names
        assert reference() is None, "the frame keeps what was in it when it was asked"
        return reference

    def look_on() -> None:
        left = 1
        mine = locals()
        visible_names(sys._getframe())
        assert mine["left"] == left

    ask()
    look_on()


def test_every_op_knows_its_exact_expression() -> None:
    code = "a = torch.tensor(2.0, requires_grad=True)\ne = (a * 3 +\n     torch.exp(a))\n"
    names = run(code)
    lines = code.splitlines()
    places = {o.name: o.source for o in document_of(names["e"], names).ops}
    assert all(s is not None for s in places.values())
    exp, mul, add = places["Exp"], places["Mul"], places["Add"]
    assert exp and mul and add
    assert lines[exp.line - 1][exp.column : exp.end_column] == "torch.exp(a)"
    assert lines[mul.line - 1][mul.column : mul.end_column] == "a * 3"
    assert (add.line, add.end_line) == (2, 3)


def test_columns_are_characters_not_bytes() -> None:
    code = "ä = torch.tensor(2.0); é = ä * 3\n"
    names = run(code)
    source = document_of(names["é"], names).ops[0].source
    assert source and code[source.column : source.end_column] == "ä * 3"


def test_statements_stand_beside_what_they_made_or_touched() -> None:
    root, names = figure(6)
    statements = document_of(root, names).statements
    names_of = {t.id: t.name for t in document_of(root, names).tensors}
    assert [(s.text, names_of[s.tensor], s.kind) for s in statements][2:4] == [
        ("c = a * b", "c", "make"),
        ("c.requires_grad = True", "c", "requires_grad"),
    ]
    assert [s.kind for s in statements].count("retain_grad") == 1
    assert (statements[-1].text, statements[-1].kind) == ("k.backward()", "backward")


def test_several_ops_of_one_statement_are_one_line_beside_the_named_result() -> None:
    root, names = figure(5)
    document = document_of(root, names)
    (statement,) = [s for s in document.statements if s.text == "e = b * c * d"]
    assert statement.tensor == document.roots[0]


def test_saved_tensors_name_the_tensor_they_are() -> None:
    root, names = figure(2, before=True)
    document = document_of(root, names)
    node = next(n for n in document.nodes if n.name == "MulBackward0")
    assert [(s.name, s.state) for s in node.saved] == [("other", "kept"), ("self", "none")]
    b = next(t for t in document.tensors if t.name == "b")
    assert node.saved[0].tensor == b.id
    assert not document.is_freed
    root.backward()
    assert document_of(root, names).is_freed


def test_numbers_on_arrows_are_what_passed() -> None:
    root, names = figure(6)
    graph = CoreGraph([root], names)
    values = {at: v.numbers[0] for at, v in graph.past().values.items() if v is not None}
    by_name = {n.id: n.name for n in graph.document.nodes}
    sums = sorted((by_name[at.removeprefix("sum:").partition(".")[0]], v) for at, v in values.items() if at.startswith("sum:"))
    assert sums == [("AccumulateGrad", -64.0), ("DivBackward0", 18.0)]
    assert [v for at, v in values.items() if at.startswith("grad_fn:")] == [1.0]


def test_a_gradient_that_came_from_elsewhere_is_not_drawn_on_a_grad_fn_arrow() -> None:
    _, names = figure(3)
    state = CoreGraph([names["c"]], names).past()
    assert not any(at.startswith("grad_fn:") for at in state.values)


def test_a_second_order_graph_is_described() -> None:
    x = av.tensor(2.0, requires_grad=True)
    (g,) = av.autograd.grad(x * x * x, x, create_graph=True)
    document = document_of(g, {"x": x, "g": g})
    ids = {t.id for t in document.tensors}
    assert all(o.tensor in ids for op in document.ops for o in op.inputs if o.tensor)
    assert sum(t.name == "x" for t in document.tensors) == 1


def test_a_tensor_whose_inputs_are_gone_is_still_drawn() -> None:
    def make() -> av.Tensor:
        a = av.tensor([1.0, 2.0], requires_grad=True)
        return a.unbind()[1] * 2

    document = document_of(make(), {})
    unbind = next(o for o in document.ops if o.name == "Unbind")
    assert None in unbind.outputs


def test_what_nodes_save_and_do_is_their_own_also_where_it_is_nearly_alike() -> None:
    """What is alike is written once: equal numbers that are not the same, other inputs that want a gradient."""
    x, z = av.tensor(2.0, requires_grad=True), av.tensor(2.0)
    c = av.tensor(1j, requires_grad=True)
    results = [x * 2, x * 2.0, x * 0.0, x * -0.0, x * True, x * z, z * x, x * x, c * c, c * 2j, x.sum(0), x**2, x**3]
    for result in results:
        assert result.grad_fn is not None
        (alone,) = (n for n in CoreGraph([result], {}).document.nodes if n.op is not None)
        together = CoreGraph(results, {})
        node = next(n for n in together.document.nodes if n.id == together.node_ids[result.grad_fn])
        assert node.formulas == alone.formulas == tuple(Formula(*f) for f in symbolic_formulas(result.grad_fn).items())
        assert [(s.name, s.state, s.text, repr(s.value)) for s in node.saved] == [
            (s.name, s.state, s.text, repr(s.value)) for s in alone.saved
        ]
