# SPDX-License-Identifier: Apache-2.0
"""What models/fec.py says of t and of detection, against a decoder that is not this project's (reedsolo)."""

import numpy as np
import pytest
import reedsolo

from models import fec

TRIALS = {"llfec": 1000, "kp4": 300}
PRIMITIVE = 0x409  # x^10 + x^3 + 1, as IEEE 802.3 clause 91


@pytest.fixture(scope="module", params=["llfec", "kp4"])
def coded(request):
    """(code, codec, a way to damage a codeword in so many symbols)."""
    c = fec.code(request.param)
    codec = reedsolo.RSCodec(c.n - c.k, nsize=c.n, c_exp=fec.SYMBOL, fcr=0, prim=PRIMITIVE)
    rng = np.random.default_rng(c.n)

    def damaged(wrong):
        word = list(codec.encode(rng.integers(0, 1 << fec.SYMBOL, c.k).tolist()))
        assert len(word) == c.n
        bad = list(word)
        for at in rng.choice(c.n, wrong, replace=False).tolist():
            bad[at] ^= int(rng.integers(1, 1 << fec.SYMBOL))
        return word, bad

    return c, codec, damaged, TRIALS[request.param]


def test_t_wrong_symbols_are_corrected(coded):
    c, codec, damaged, trials = coded
    for n in range(trials):
        word, bad = damaged(c.t if n % 4 else 1 + n // 4 % c.t)
        assert list(codec.decode(bad)[1]) == word


@pytest.mark.parametrize("more", [1, 2, 20])
def test_more_are_detected(coded, more):
    c, codec, damaged, trials = coded
    for _ in range(trials):
        bad = damaged(c.t + more)[1]
        with pytest.raises(reedsolo.ReedSolomonError):
            codec.decode(bad)
