"""torch's Adam without torch's compiler.

`torch.optim.Adam` wraps its methods so that `torch.compile` leaves them alone, and the wrappers import the compiler
when first called: two seconds, for nothing where nothing is compiled. These are the same methods without their
wrappers, so every step gives the same numbers, bit for bit.
"""

from __future__ import annotations

from inspect import unwrap

import torch


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
    zero_grad = unwrap(torch.optim.Adam.zero_grad)
    state_dict = unwrap(torch.optim.Adam.state_dict)
    load_state_dict = unwrap(torch.optim.Adam.load_state_dict)
    step = torch.no_grad()(unwrap(torch.optim.Adam.step))
