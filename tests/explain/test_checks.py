"""Each check sees its own fault, and is silent about the innocent twins of that program."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import autograd_viz as av
from autograd_viz.answers.causes.check import MAY, SO
from autograd_viz.answers.checks.ask import BY_CODE, page_of
from autograd_viz.verbs.check import Finding, Findings
from autograd_viz.words import en

from .checked import LIBRARIES, found
from .explained import run

# the twin has no such optimizer or scaler, or does not remember when a tensor was written, or by which call it was made
ONLY_PYTORCH = {
    f"AV{n}"
    for n in (
        103,
        104,
        107,
        108,
        208,
        209,
        210,
        212,
        213,
        215,
        216,
        217,
        218,
        219,
        220,
        222,
        224,
        225,
        228,
        229,
        234,
        235,
        236,
        237,
        239,
        308,
        407,
        410,
        412,
        413,
        414,
        415,
        421,
        422,
        418,
        502,
        503,
        602,
        603,
    )
}
KINDS = [name.removeprefix("CAUSE_").lower() for name in vars(en) if name.startswith("CAUSE_")]
PAGE = Path(__file__).parents[2] / "docs" / "look_up" / "checks.md"
SECTION = re.compile(
    r"^## (AV\d+) ([\w-]+)\n\n([^\n]+)\n\n((?:- [^\n]*\n)+)\nIt finds:\n\n(.*?)It is silent about:\n\n(.*?)(?=^## |\Z)",
    re.MULTILINE | re.DOTALL,
)
PROGRAM = re.compile(r"^```py\n(.*?)^```$", re.M | re.S)
# by number: the name, what it is about, its sentences, the sick program, innocent twins
TOLD = {
    m[1]: (m[2], m[3], m[4], PROGRAM.findall(m[5]), PROGRAM.findall(m[6])) for m in SECTION.finditer(PAGE.read_text("utf-8"))
}
SICK = pytest.mark.parametrize(("code", "program"), [pytest.param(c, p, id=c) for c, t in TOLD.items() for p in t[3]])
TWINS = pytest.mark.parametrize(
    ("code", "program"), [pytest.param(c, p, id=f"{c} {i}") for c, t in TOLD.items() for i, p in enumerate(t[4])]
)


@pytest.mark.parametrize("library", LIBRARIES)
@SICK
def test_a_check_sees_its_own_fault(code: str, program: str, library: str) -> None:
    is_known = library == "torch" or code not in ONLY_PYTORCH
    assert (code in [f.code for f in found(program, library)]) == is_known


@pytest.mark.parametrize("library", LIBRARIES)
@TWINS
def test_a_check_is_silent_about_an_innocent_twin(code: str, program: str, library: str) -> None:
    said = found(program, library)
    assert code not in [f.code for f in said], said
    assert not said.is_so, said


OTHER = "_other = torch.nn.Linear(2, 1)\n_its = torch.optim.SGD(_other.parameters(), lr=0.1)\n"


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("code", [code for code, told in TOLD.items() if "optim" not in told[3][0]])
def test_the_optimizer_of_another_model_changes_nothing(code: str, library: str) -> None:
    alone, beside = (found(text, library) for text in (TOLD[code][3][0], OTHER + TOLD[code][3][0]))
    assert [f.code for f in alone].count(code) == [f.code for f in beside].count(code)


def test_every_check_has_a_sick_program_an_innocent_twin_and_its_sentences_in_the_docs() -> None:
    assert {c.code: (c.name, c.when.__doc__) for c in BY_CODE.values()} == {code: told[:2] for code, told in TOLD.items()}
    for code, (_, _, sentences, sick, innocent) in TOLD.items():
        assert len(sick) == 1 and innocent
        for sure, cause, advice in re.findall(r"^- \*It (is|may be)(?: so)?:\* (.*?)(?: → (.*))?$", sentences, re.M):
            kinds = [
                k for k in KINDS if (page := page_of(k)) and page[0].code == code and page[1] == (SO if sure == "is" else MAY)
            ]
            assert (cause, advice) in [(plain("CAUSE", k), plain("DO", k)) for k in kinds], cause


def plain(prefix: str, kind: str) -> str:
    """A sentence without the place; values stand as `op`."""
    text = re.sub(r"\s?\(\{\w+\}\)", "", getattr(en, f"{prefix}_{kind.upper()}", ""))
    return re.sub(r"\{(\w+)\}", r"`\1`", text)


def test_what_a_check_says_has_at_most_sixty_words() -> None:
    assert [k for k in KINDS if page_of(k) and len(f"{plain('CAUSE', k)} {plain('DO', k)}".split()) > 60] == []


@pytest.mark.torch
@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("t = torch.tensor([0.0, 1.0])\nloss = (t * torch.log(t / w)).sum()", "log returned -inf"),
        (
            "loss = (w + 1).masked_fill(w > 0, -float('inf')).softmax(0).sum()",
            "softmax returned nan: a row of",
        ),
    ],
)
def test_nan_of_a_watched_program_is_told_with_its_line(program: str, line: str) -> None:
    said = str(run(f"w = torch.ones(2, requires_grad=True)\n{program}\nloss.backward()", "torch", "w", watched=True))
    assert line in said and "record" not in said.split("\n", maxsplit=1)[0]


def test_a_cause_of_another_check_is_told_as_another() -> None:
    program = "w = torch.nn.Parameter(torch.ones(2))\nopt = torch.optim.SGD([w], lr=0.1)\n"
    said = str(run(program + "for _ in range(3):\n    loss = (w * 2).sum()\n    loss.backward()", "core", "w"))
    assert said.split("\n")[2].startswith("Less likely: SGD.step() has never run")


def test_every_kind_of_a_check_has_its_words() -> None:
    claimed = {pattern for c in BY_CODE.values() for pattern in c.kinds if "*" not in pattern}
    assert claimed <= {*KINDS}


# what these say is no fault: what was asked to happen, what nobody has seen, and that nothing stands out
ANSWERS = """
    all_fine all_fine_unseen awaited buffer cleared cleared_by_hook clipped dtype evaluated failed fine fine_paths
    fine_unseen frozen functional grad_set grad_written grad_zeroed hook_on_way huge inference lacks_number late
    leaf_lost leaf_updated left_out loss_fine loss_fine_unseen made_early made_for_call made_of_number no_error
    no_loss_here no_pass no_path_from not_asked not_asked_unseen not_freed not_leaf not_recorded not_shown
    nothing_known nothing_of_hook nothing_passed_on off_now old old_idle old_own old_zeroed only_in_grad other_root
    pass_unseen ran_before retained_late root_gone running set_cleared sharded sharded_missing start_not_one switched_off tiny
    unknown_error unrecorded used_after
"""


def test_a_cause_belongs_to_a_check_or_accuses_nobody() -> None:
    assert {kind for kind in KINDS if page_of(kind) is None} == {*ANSWERS.split()}


PLACES = "net, x = torch.nn.Linear(4, 3), torch.randn(2, 4)\n"
EXPERTS = """
a, b = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
opt = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)
for expert in ({order}):
    loss = expert(torch.randn(6, 4)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.torch
def test_an_expert_that_an_earlier_pass_used_is_not_unused() -> None:
    assert not found(EXPERTS.format(order="a, b, a, a"), "torch")
    assert [f.code for f in found(EXPERTS.format(order="a, a, a"), "torch")] == ["AV102"]


KEPT = "w = torch.ones(3, requires_grad=True)\nloss = (w * 2).pow(2).sum()\nloss.backward(retain_graph=True)"


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_graph_that_keeps_its_saved_tensors_is_read(library: str) -> None:
    assert not found(KEPT, library)


SILENCED = PLACES + "loss = torch.nn.functional.cross_entropy(net(x).softmax(1), {}){}\nloss.backward()"
ROWS = "torch.tensor([0, 2])"


@pytest.mark.parametrize("library", LIBRARIES)
def test_findings_are_lines_of_a_linter_and_data(library: str) -> None:
    said = found(SILENCED.format(ROWS, ""), library)
    assert re.fullmatch(r"line 2: AV201 log_softmax, .* softmax\. → Leave softmax out\.", str(said))
    (told,) = json.loads(said.to_json())
    assert (told["code"], told["is_so"], told["line"], told["tensors"]) == ("AV201", True, 2, [])


def test_a_check_is_silenced_at_a_line_by_its_number_by_its_name_and_by_the_beginning_of_its_number() -> None:
    assert not found(SILENCED.format(ROWS, "  # av: ignore[AV201]"), "core")
    assert found(SILENCED.format(ROWS, "  # av: ignore[AV203]"), "core")
    for options in ({"ignore": ["squashed-twice"]}, {"ignore": ["AV2"]}, {"select": ["AV3"]}):
        assert str(found(SILENCED.format(ROWS, ""), "core", **options)) == "Nothing stands out."
    with pytest.raises(av.UnknownChoiceError, match="unknown check 'AV999'; choose one of: AV101 detached"):
        av.check(select=["AV999"])
    with pytest.raises(av.NotDrawableError, match="takes a module, a tensor of autograd_viz or of PyTorch, or an error"):
        av.check(3)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("ask", ["net", ""])
def test_explain_of_a_module_or_of_the_last_pass_tells_what_is_wrong_with_it(library: str, ask: str) -> None:
    _, _, _, sick, innocent = TOLD["AV401"]
    answer = run(sick[0], library, ask, watched=True)
    assert str(answer).startswith("net.0.weight.grad is None: zero_grad() cleared it") and "net.2.bias" in answer.details
    assert json.loads(answer.to_json())["causes"][0]["check"] == "AV401" and "→" in answer.to_json()
    answer = run(innocent[0], library, ask, watched=True)
    assert re.fullmatch(r"Nothing stands out \(\d+ looked at\)\.", str(answer))


@pytest.mark.torch
def test_a_check_looks_at_one_library_where_a_program_uses_both() -> None:
    import torch

    a, u = av.tensor(2.0, requires_grad=True), torch.ones(2, requires_grad=True)
    losses = [a * 2, (u * 2).sum()]
    for loss in losses:
        loss.backward()
    assert not any(len(av.check(t)) for t in (*losses, None))


def test_what_is_behind_another_finding_comes_first() -> None:
    names = [Finding("AV302", "all-zero", False, "", ""), Finding("AV409", "outgrown", False, "", "", line=3)]
    names += [Finding("AV301", "not-finite", True, "", ""), Finding("AV101", "detached", True, "", "")]
    assert [f.code for f in Findings(names)] == ["AV101", "AV302", "AV409", "AV301"]
