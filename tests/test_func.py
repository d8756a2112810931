"""torch.func beside PyTorch's: derivatives of functions, vmap, and modules called with other parameters."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")]  # its own
torch = pytest.importorskip("torch")

SOURCES = """
F.grad(lambda x:x)(x)
F.grad(lambda x:3.)(x)
F.grad(lambda x:x.sum(),argnums=(0,))(x)
F.grad(lambda x,y:(x*y).sum(),argnums=(0,1))(x,x)
F.grad(lambda d:(d['a']*d['b']).sum())({'a':x,'b':x})
F.grad(lambda x:(x.sum(),x*2),has_aux=True)(x)
F.grad_and_value(lambda x:x.sum())(x)
F.vmap(lambda a,b:a*b,in_dims=(0,None))(x,x)
F.vmap(lambda a:(a,a*2),out_dims=(0,1))(m.ones(2,3))
F.vmap(lambda a:a*2)(m.ones(1,3))
F.vmap(lambda a:3.)(x)
F.vmap(lambda a,b:a)(x,m.ones(3))
F.vmap(lambda a:a)(m.tensor(1.))
F.vmap(lambda a:a, in_dims=2)(x)
F.grad(lambda x:x.sum())(3)
F.grad(lambda x:x.sum(),argnums=2)(x)
F.grad(lambda x:(x*2).detach().sum())(x)
F.grad(lambda x:x.sum())(m.tensor([1,2]))
F.grad(lambda x:(x*x*w).sum())(x).requires_grad
F.grad(lambda x:(x*x).sum())(w).requires_grad
F.grad(lambda x:(x*x).sum())(x).requires_grad
F.grad(lambda y:F.grad(lambda x:(x**3*y).sum())(y).sum())(x)
F.grad(F.grad(F.grad(lambda x:x**4)))(m.tensor(2.))
F.jacrev(lambda x:{'a':x*x,'b':x.sum()})(x)
F.jacrev(lambda x,y:x*y, argnums=(0,1))(x,x)
F.hessian(lambda x:(x**3).sum()*x[0])(x)
F.vjp(lambda x:x*x,x)[0]
F.vjp(lambda x:x*x,x)[1](x)
F.vjp(lambda x,y:(x*y,x.sum()),x,x)[1]((x,m.tensor(2.)))
F.jvp(lambda x:x*x,(x,),(x,))
F.jvp(lambda x,y:(x*y.sin(),y*3),(x,x),(x,x*2))
F.jacfwd(lambda x:x*x)(x)
F.vmap(lambda a: m.rand(2)*a)(x)
F.vmap(F.grad(lambda p,a,b:((p['w']*a).sum()-b)**2),in_dims=(None,0,0))({'w':x},m.ones(2,2),x)
F.vmap(F.vmap(lambda a,b:a*b,in_dims=(None,0)),in_dims=(0,None))(x,m.ones(3))
F.vmap(lambda d:d['a']+d['b'],in_dims=({'a':0,'b':None},))({'a':x,'b':x})
m.vmap(lambda a:a.sum())(m.ones(2,3))
F.vmap(m.dot)(m.ones(4,3),m.ones(4,3))
F.vmap(lambda a, b: a @ b, in_dims=(0, 1), out_dims=-1)(m.ones(2,3,4), m.ones(4,2,5)).shape
F.functional_call(net,{'weight':m.ones(1,2)},(x,))
F.functional_call(net,[{'weight':m.ones(1,2)},{'bias':m.zeros(1)}],x,strict=True)
F.grad(lambda p:F.functional_call(net,p,x).sum())({'weight':m.ones(1,2),'bias':m.zeros(1)})
""".strip().splitlines()


def said(m: Any, source: str) -> str:
    m.manual_seed(0)
    names = {"m": m, "F": m.func, "x": m.tensor([1.0, 2.0]), "w": m.ones(2, requires_grad=True), "net": m.nn.Linear(2, 1)}
    try:
        return repr(eval(source, names))
    except (RuntimeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("source", SOURCES)
def test_a_function_of_functions_is_pytorchs(source: str) -> None:
    assert said(av, source) == said(torch, source)


def test_models_of_one_kind_run_as_one() -> None:
    found = []
    for m in (av, torch):
        m.manual_seed(0)
        models, x = [m.nn.Sequential(m.nn.Linear(2, 3), m.nn.Tanh()) for _ in range(3)], m.ones(4, 2)
        params, buffers = m.func.stack_module_state(models)

        def one(params: Any, buffers: Any, x: Any, m: Any = m, model: Any = models[0]) -> Any:
            return m.func.functional_call(model, (params, buffers), (x,))

        out = m.vmap(one, in_dims=(0, 0, None))(params, buffers, x)
        out.sum().backward()
        found.append((out.shape, out.sum().item(), [p.grad.sum().item() for p in params.values()], list(params)))
    assert found[0][0] == found[1][0] and found[0][3] == found[1][3]
    assert [found[0][1], *found[0][2]] == pytest.approx([found[1][1], *found[1][2]], rel=1e-5)


def test_shared_parameters_are_replaced_together_and_come_back() -> None:
    found = []
    for m in (av, torch):
        m.manual_seed(0)
        model = m.nn.Sequential(m.nn.Linear(2, 2, bias=False), m.nn.Linear(2, 2, bias=False))
        model[1].weight = model[0].weight
        own = model[0].weight
        for tied in (True, False):
            out = m.func.functional_call(model, {"0.weight": m.ones(2, 2)}, m.ones(2), tie_weights=tied)
            found.append(out.tolist())
        with pytest.raises(RuntimeError):
            m.func.functional_call(model, {"0.weight": m.ones(3, 3)}, m.ones(2))
        assert model[0].weight is own and model[1].weight is own
    assert found[:2] == [pytest.approx(f) for f in found[2:]]


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_random_numbers_of_examples_are_the_same_or_not(randomness: str) -> None:
    for m in (av, torch):
        rows = m.vmap(lambda a, m=m: m.rand(2) + 0 * a, randomness=randomness)(m.ones(3))
        assert (rows[0] == rows[1]).all() == (randomness == "same")
