"""Our Adam is torch's, bit for bit, and leaves torch's compiler alone."""

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from wlhn.training.adam import Adam

ALONE = """
import sys, torch
from wlhn.training.adam import Adam
x = torch.nn.Parameter(torch.ones(3))
optimizer = Adam([x], lr=0.1, foreach=True)
optimizer.zero_grad()
x.square().sum().backward()
optimizer.step()
optimizer.load_state_dict(optimizer.state_dict())
assert not any(name.startswith("torch._dynamo") for name in sys.modules)
"""


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("foreach", [None, True])
@pytest.mark.parametrize(("betas", "eps"), [((0.9, 0.999), 1e-8), ((0.5, 0.9), 1e-3), ((0.0, 0.5), 1e-8)])
def test_steps_are_torchs_bit_for_bit(
    dtype: torch.dtype, decay: float, foreach: bool | None, betas: tuple[float, float], eps: float
) -> None:
    ends, states = [], []
    for kind, given in ((torch.optim.Adam, {"foreach": False}), (Adam, {"foreach": foreach})):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ReLU(), torch.nn.Linear(7, 2)).to(dtype)
        optimizer = kind(model.parameters(), lr=0.01, betas=betas, eps=eps, weight_decay=decay, **given)
        for step in range(20):
            optimizer.zero_grad()
            model(torch.randn(11, 5, dtype=dtype)).square().mean().backward()
            optimizer.step()
            if step == 10:
                optimizer.load_state_dict(optimizer.state_dict())
        ends.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
        states.append(optimizer.state_dict()["state"])
    assert torch.equal(*ends)
    for k, there in states[0].items():
        assert there.keys() == states[1][k].keys()
        assert all(torch.equal(torch.as_tensor(there[n]), torch.as_tensor(states[1][k][n])) for n in there)


def test_short_floats_are_torchs_too() -> None:
    ends = []
    for kind in (torch.optim.Adam, Adam):
        weight = torch.nn.Parameter(torch.linspace(-1, 1, 40, dtype=torch.bfloat16))
        optimizer = kind([weight], lr=0.1)
        for _ in range(4):
            optimizer.zero_grad()
            weight.square().sum().backward()
            optimizer.step()
        ends.append(weight.detach())
    assert torch.equal(*ends)


def test_parameters_of_another_type_are_refused_as_torch_refuses_them() -> None:
    for kind in (torch.optim.Adam, Adam):
        model = torch.nn.Linear(2, 1)
        optimizer = kind(model.parameters(), lr=0.1)
        for step in range(3):
            if step == 2:
                model.double()
            optimizer.zero_grad()
            model(torch.ones(1, 2, dtype=model.weight.dtype)).sum().backward()
            if step < 2:
                optimizer.step()
        with pytest.raises(RuntimeError):
            optimizer.step()


@pytest.mark.parametrize("resting", [(5, 6), (0, 5)])
def test_parameters_that_sit_out_a_step_are_torchs_too(resting: tuple[int, ...]) -> None:
    ends = []
    for kind in (torch.optim.Adam, Adam):
        torch.manual_seed(0)
        parameters = [torch.nn.Parameter(torch.randn(shape)) for shape in ((3, 2), (5,), ())]
        optimizer = kind(parameters, lr=0.1, foreach=False)
        for step in range(12):
            optimizer.zero_grad()
            taking_part = parameters[: 2 if step in resting else 3]
            torch.stack([(p**2).sum() * torch.rand(()) for p in taking_part]).sum().backward()
            optimizer.step()
        ends.append(torch.cat([p.detach().flatten() for p in parameters]))
    assert torch.equal(*ends)


@pytest.mark.parametrize("resting", [(), (0,)])
@pytest.mark.parametrize("after", [torch.optim.Adam, Adam])
def test_a_state_goes_on_in_another_optimizer(after: type[torch.optim.Adam], resting: tuple[int, ...]) -> None:
    ends, counts = [], []
    for kinds in ((torch.optim.Adam, torch.optim.Adam), (Adam, after)):
        torch.manual_seed(0)
        parameters = [torch.nn.Parameter(torch.randn(shape)) for shape in ((3, 2), (5,), ())]
        one, other = (kind(parameters, lr=0.1, foreach=False) for kind in kinds)
        for step in range(-3, 3):
            if step == 0:
                other.load_state_dict(one.state_dict())
            one.zero_grad()
            taking_part = parameters[: 2 if step in resting else 3]
            torch.stack([(p**2).sum() for p in taking_part]).sum().backward()
            (one if step < 0 else other).step()
        ends.append(torch.cat([p.detach().flatten() for p in parameters]))
        counts.append([float(state["step"]) for state in other.state.values()])
    assert torch.equal(*ends)
    assert counts[0] == counts[1] == [6, 6, 6 - len(resting)]


def test_hooks_run_as_torchs_do() -> None:
    heard: dict[type, list[tuple[str, float, bool]]] = {}
    for kind in (torch.optim.Adam, Adam):
        x = torch.nn.Parameter(torch.tensor([1.0]))
        optimizer, said = kind([x], lr=0.1, foreach=False), heard.setdefault(kind, [])

        def hear(when: str, x: torch.Tensor = x, said: Any = said) -> Any:
            return lambda *_: said.append((when, x.item(), torch.is_grad_enabled()))

        handles = [
            optimizer.register_step_pre_hook(hear("before")),
            optimizer.register_step_post_hook(hear("after")),
            register_optimizer_step_pre_hook(hear("before all")),
            register_optimizer_step_post_hook(hear("after all")),
        ]
        for _ in range(3):
            optimizer.zero_grad()
            (x**2).sum().backward()
            optimizer.step()
        for handle in handles:
            handle.remove()
        optimizer.step()
    assert heard[Adam] == heard[torch.optim.Adam]
    assert len(heard[Adam]) == 12


def test_torchs_compiler_is_not_imported() -> None:
    assert subprocess.run([sys.executable, "-c", ALONE]).returncode == 0
