"""The same batch gives the same gradients, bit for bit, wherever its arrays happen to lie in memory."""

import numpy as np
import pytest
import torch
from baseline_graphs import LEARNED
from tiny import tiny

from wlhn.batching.collator import Collator, run_model
from wlhn.data.vocabulary import Vocabulary
from wlhn.models.registry import build_model
from wlhn.training.settings import Settings


@pytest.mark.parametrize("channels", [8, 64])
@pytest.mark.parametrize("name", [name for name, level in LEARNED if level == "graph"])
def test_gradients_repeat_bit_for_bit(name: str, channels: int) -> None:
    data = tiny(30)
    model = build_model(name, Settings.of(name, hidden_channels=channels).options, 3, 2)
    batch = Collator(Vocabulary.fit(data).encode(data.graphs), hasattr(model, "run_on_colours"), 3).batch(np.arange(30))
    random, kept, seen = np.random.default_rng(0), [], set()
    for _ in range(60):
        kept = [*kept[-40:], bytearray(int(random.integers(1, 5000)))]  # moves what is allocated next
        model.zero_grad()
        run_model(model, batch).square().sum().backward()
        seen.add(b"".join(p.grad.numpy().tobytes() for p in model.parameters() if p.grad is not None))
    assert len(seen) == 1
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
