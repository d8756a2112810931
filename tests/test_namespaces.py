"""The modules that teaching programs import: each path of PyTorch leads somewhere, imported and as an attribute."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from typing import Any

import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

NAMES = """
amp: GradScaler autocast custom_bwd custom_fwd
amp.autocast_mode: autocast
amp.grad_scaler: GradScaler
backends.cudnn: benchmark deterministic enabled is_available version
backends.cuda: matmul is_built
backends.mps: is_available is_built
cuda: Event device_count empty_cache is_available manual_seed_all max_memory_allocated memory_allocated synchronize
cuda.amp: GradScaler autocast custom_bwd custom_fwd
distributions.bernoulli: Bernoulli
distributions.categorical: Categorical
distributions.normal: Normal
functional: einsum meshgrid norm split tensordot
multiprocessing: Process Queue cpu_count get_context set_start_method spawn
nn: DataParallel
nn.modules: Conv2d Linear Module ReLU Sequential
nn.modules.activation: ReLU
nn.modules.batchnorm: BatchNorm1d _BatchNorm
nn.modules.container: ModuleList Sequential
nn.modules.conv: Conv2d _ConvNd
nn.modules.linear: Identity Linear
nn.modules.loss: MSELoss _Loss
nn.modules.module: Module
nn.modules.rnn: LSTM
nn.modules.utils: _ntuple _pair _single _triple
nn.parallel: DataParallel
nn.utils.parametrizations: spectral_norm weight_norm
nn.utils.parametrize: cached is_parametrized register_parametrization remove_parametrizations
nn.utils.prune: BasePruningMethod L1Unstructured global_unstructured is_pruned l1_unstructured ln_structured remove
nn.utils.stateless: functional_call
nn.utils.clip_grad: clip_grad_norm_
nn.utils.rnn: PackedSequence pack_padded_sequence pack_sequence pad_packed_sequence pad_sequence unpack_sequence unpad_sequence
optim.adam: Adam
optim.adamw: AdamW
optim.lr_scheduler: LRScheduler _LRScheduler
optim.optimizer: Optimizer
optim.rmsprop: RMSprop
optim.sgd: SGD
optim.swa_utils: AveragedModel SWALR get_ema_multi_avg_fn update_bn
random: fork_rng get_rng_state initial_seed manual_seed set_rng_state
utils.data.dataloader: DataLoader default_collate
utils.data.dataset: Dataset Subset TensorDataset random_split
utils.data.sampler: Sampler SubsetRandomSampler
version: cuda
"""
PATHS = dict(line.split(": ") for line in NAMES.strip().splitlines())


def at(m: Any, path: str) -> Any:
    for name in path.split("."):
        m = getattr(m, name)
    return m


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_pytorch_can_be_imported_and_reached(path: str) -> None:
    module = importlib.import_module(f"autograd_viz.{path}")
    theirs = importlib.import_module(f"torch.{path}")
    assert at(av, path) is module
    for name in PATHS[path].split():
        mine = getattr(module, name)
        assert isinstance(mine, type) == isinstance(getattr(theirs, name), type) or callable(mine), name


def test_an_import_alone_is_enough() -> None:
    """In a fresh Python: nothing else has loaded the module before."""
    lines = [f"from autograd_viz.{path} import {names.replace(' ', ', ')}" for path, names in PATHS.items()]
    program = "\n".join([*lines, "import autograd_viz.backends.cudnn as cudnn", "cudnn.benchmark = True", "print(_pair(3))"])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("(3, 3)\n", "")


@pytest.mark.parametrize("name", ["_BatchNorm", "_ConvNd", "_Loss", "_DropoutNd", "_NormBase"])
def test_a_private_base_class_has_pytorchs_instances(name: str) -> None:
    def instances(m: Any) -> list[str]:
        nn = m.nn
        layers = [
            nn.BatchNorm1d(2), nn.BatchNorm2d(2), nn.InstanceNorm1d(2), nn.LayerNorm(2), nn.Conv2d(1, 1, 1), nn.Linear(1, 1),
            nn.ConvTranspose1d(1, 1, 1), nn.MSELoss(), nn.CrossEntropyLoss(), nn.NLLLoss(), nn.BCELoss(), nn.Dropout(),
        ]  # fmt: skip
        homes = {"B": "batchnorm", "C": "conv", "L": "loss", "D": "dropout", "N": "batchnorm"}
        base = getattr(at(m, f"nn.modules.{homes[name[1]]}"), name)
        return [type(layer).__name__ for layer in layers if isinstance(layer, base)]

    assert instances(av) == instances(torch)


CUDA = [
    "is_available()",
    "is_initialized()",
    "device_count()",
    "is_bf16_supported()",
    "memory_allocated()",
    "max_memory_allocated()",
    "memory_reserved()",
    "max_memory_reserved()",
    "memory_stats()",
    "empty_cache()",
    "manual_seed(0)",
    "manual_seed_all(0)",
    "seed_all()",
    "get_arch_list()",
    "get_rng_state_all()",
    "current_device()",
    "get_device_name(0)",
    "get_device_properties(0)",
    "get_device_capability()",
    "mem_get_info()",
    "init()",
]
if torch.version.cuda:  # such a build looks for a driver, and tells that there is none
    CUDA = CUDA[: CUDA.index("get_arch_list()")]


@pytest.mark.parametrize("call", CUDA)
def test_a_missing_gpu_is_told_as_a_pytorch_without_one_tells_it(call: str) -> None:
    def said(m: Any) -> str:
        try:
            return repr(eval(f"m.cuda.{call}", {"m": m}))
        except AssertionError as error:
            return str(error)

    assert said(av) == said(torch)


def test_events_of_a_gpu_measure_the_cpu() -> None:
    begin, end = (av.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    time.sleep(0.002)
    end.record()
    av.cuda.synchronize()
    end.synchronize()
    assert 2.0 <= begin.elapsed_time(end) < 2000.0


@pytest.mark.filterwarnings("ignore")  # "CUDA is not available", and PyTorch's own note of the new names
def test_old_mixed_precision_is_switched_off_without_a_gpu() -> None:
    for m in (av, torch):
        x = m.ones(2, requires_grad=True)
        optimizer, scaler = m.optim.SGD([x], lr=0.5), m.cuda.amp.GradScaler(init_scale=8.0, enabled=True)
        with m.cuda.amp.autocast(enabled=True):
            loss = (x * 2).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        assert (x.tolist(), scaler.get_scale()) == ([0.0, 0.0], 1.0)


def test_a_module_for_several_devices_is_the_module_itself() -> None:
    found = []
    for m in (av, torch):
        m.manual_seed(0)
        layer = m.nn.Linear(2, 1)
        model = m.nn.DataParallel(layer, device_ids=[0, 1])
        found.append((model(m.ones(2)).item(), list(model.state_dict()), repr(model), model.module is layer, model.device_ids))
    assert found[0] == found[1]


def test_a_function_runs_in_several_processes() -> None:
    program = """
import autograd_viz.multiprocessing as mp

def run(rank, queue):
    queue.put(rank)

def fail(rank):
    raise SystemExit(3 * rank)

queue = mp.get_context("fork").SimpleQueue()
mp.spawn(run, args=(queue,), nprocs=2, start_method="fork")
print(sorted([queue.get(), queue.get()]))
print(mp.spawn(run, args=(queue,), start_method="fork"), queue.get(), queue.empty())
(left,) = mp.spawn(run, args=(queue,), join=False, start_method="fork")
print(left.daemon, left.join(), queue.get())
try:
    mp.spawn(fail, nprocs=2, start_method="fork")
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[0, 1]\nNone 0 True\nFalse None 0\nprocess 1 terminated with exit code 3\n", "")


def test_a_block_of_random_numbers_leaves_the_others_alone() -> None:
    found = []
    for m in (av, torch):
        m.manual_seed(0)
        with m.random.fork_rng(devices=[]):
            inner = m.rand(2).tolist()
        found.append((inner, m.rand(2).tolist()))
    assert found[0] == found[1] and found[0][0] == found[0][1]


def test_datasets_are_stacked_as_tuples_or_by_name() -> None:
    def answers(m: Any) -> list[Any]:
        stack, rows = m.utils.data.StackDataset, [[1, 2], [3, 4]]
        refused = []
        for datasets, named in (((), {}), (rows, {"a": [1, 2]}), (([1], [2, 3]), {})):
            with pytest.raises(ValueError) as error:
                stack(*datasets, **named)
            refused.append(str(error.value))
        return [refused, stack(*rows)[1], stack(a=rows[0], b=rows[1])[0], len(stack(*rows))]

    assert answers(av) == answers(torch)


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
def test_a_range_has_its_end_and_begins_at_zero_by_default() -> None:
    assert av.range(1, 4).tolist() == torch.range(1, 4).tolist()
    assert av.range(end=2).tolist() == [0.0, 1.0, 2.0]


def test_one_thread_computes() -> None:
    assert av.get_num_threads() == av.get_num_interop_threads() == 1
