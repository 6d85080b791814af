"""torch's Adam without torch's compiler, and on all parameters at once.

`torch.optim.Adam` wraps its methods so that `torch.compile` leaves them alone, and the wrappers import the compiler
when first called: two seconds, for nothing where nothing is compiled. These are the same methods without their
wrappers. On the CPU torch goes through ten operations for each parameter, which of a small network takes as long as a
tenth of the whole step; here two compiled loops go through all parameters end to end, in room that is made once. Every
number is torch's, bit for bit: the square root between the loops is its own, which is not always correctly rounded.
"""

from __future__ import annotations

from inspect import unwrap
from typing import Any

import torch
from torch import Tensor
from torch._utils import _flatten_dense_tensors as flat
from torch._utils import _unflatten_dense_tensors as in_parts
from torch.optim.optimizer import _global_optimizer_post_hooks as after_all
from torch.optim.optimizer import _global_optimizer_pre_hooks as before_all

from wlhn.loops import adam as loops

UNCOMMON = "amsgrad", "maximize", "capturable", "differentiable", "fused", "decoupled_weight_decay"


class Adam(torch.optim.Adam):
    """Adam as `torch.optim.Adam` has it, with the same arguments, state and results.

    >>> x = torch.nn.Parameter(torch.tensor([1.0]))
    >>> optimizer = Adam([x], lr=0.1)
    >>> (x**2).sum().backward()
    >>> optimizer.step()
    >>> x.data
    tensor([0.9000])
    """

    add_param_group = unwrap(torch.optim.Adam.add_param_group)
    state_dict = unwrap(torch.optim.Adam.state_dict)
    load_state_dict = unwrap(torch.optim.Adam.load_state_dict)
    _step_each = torch.no_grad()(unwrap(torch.optim.Adam.step))
    _mean: Tensor
    _kept: Any = None  # the state, while its moments lie end to end,
    _views: tuple[tuple[dict[str, Any], Tensor], ...] = ()  # and that of each parameter, with its first moment

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients; torch's own tells its profiler as well."""
        if not set_to_none:
            return unwrap(torch.optim.Adam.zero_grad)(self, set_to_none)
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.grad = None

    def step(self, closure: Any = None) -> Any:
        """One step, with the hooks that are registered."""
        hooks = self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks or before_all or after_all
        return self._step_with_hooks(closure) if hooks else self._step(closure)

    step.hooked = True  # type: ignore[attr-defined]  # else torch wraps it, to tell its profiler of each step

    @torch.no_grad()
    def _step(self, closure: Any = None) -> Any:
        """One step. The first, which makes the state, and those of uncommon parameters, are torch's own."""
        if closure is not None or not self._lies_end_to_end():
            self._kept, self._views = None, ()
            return self._step_each(closure)
        (group,) = self.param_groups
        parameters, (beta1, beta2) = group["params"], group["betas"]
        torch._foreach_copy_(self._grads, [parameter.grad for parameter in parameters])
        torch._foreach_copy_(self._values, parameters)
        value, grad, mean, square, root = self._arrays
        loops.moments(value, grad, float(group["weight_decay"]), beta1, beta2, mean, square)
        torch.sqrt(self._square, out=self._root)
        self._counts.add_(1)
        count = self._counts[0].item()
        correction, step = (1 - beta2**count) ** 0.5, -float(group["lr"] / (1 - beta1**count))
        loops.move(mean, root, correction, group["eps"], step, value)
        torch._foreach_copy_(parameters, self._values)
        return None

    _step_with_hooks = torch.optim.Adam.profile_hook_step(_step)

    def _lies_end_to_end(self) -> bool:
        """Whether the moments of all parameters lie end to end, if need be from now on."""
        group, *others = self.param_groups
        parameters = group["params"]
        if others or any(group.get(name) for name in UNCOMMON) or any(p.grad is None for p in parameters):
            return False
        # torch's lerp has another form from 1 − β1 = 0.5 on, and loops have these types.
        if group["betas"][0] <= 0.5 or parameters[0].dtype not in (torch.float32, torch.float64):
            return False
        if self._kept is self.state and all(kept["exp_avg"] is view for kept, view in self._views):
            return parameters[0].dtype == self._mean.dtype
        states = [self.state[parameter] for parameter in parameters]
        kinds = {(parameter.device.type, parameter.dtype) for parameter in parameters}
        steps = {float(state.get("step", 0)) for state in states}
        if len(kinds) > 1 or len(steps) > 1 or 0 in steps or parameters[0].device.type != "cpu":
            return False
        self._counts = torch.stack([state["step"] for state in states])  # one each: a state may go to another optimizer
        self._mean, self._square = (flat([state[name] for state in states]) for name in ("exp_avg", "exp_avg_sq"))
        means, squares = in_parts(self._mean, parameters), in_parts(self._square, parameters)
        value, grad, self._root = (torch.empty_like(self._mean) for _ in range(3))
        self._values, self._grads = in_parts(value, parameters), in_parts(grad, parameters)
        self._arrays = tuple(x.numpy() for x in (value, grad, self._mean, self._square, self._root))
        for state, count, mean, square in zip(states, self._counts, means, squares, strict=True):
            state.update(step=count, exp_avg=mean, exp_avg_sq=square)
        self._kept, self._views = self.state, tuple(zip(states, means, strict=True))
        return True
