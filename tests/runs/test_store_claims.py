"""Claims of runs, which several processes may want."""

import time
from concurrent.futures import ThreadPoolExecutor

from crosslens.runs.store import Store


def test_a_claim_waits_for_a_lock_that_is_soon_released(tmp_path):
    """Another process may hold the lock for a moment, to look whether anybody works on the run."""
    store = Store(tmp_path / "runs")

    def claim(patience):
        with store.claim("run", patience=patience) as claimed:
            return claimed

    with ThreadPoolExecutor(1) as others:
        with store.claim("run"):
            assert not others.submit(claim, 0.0).result()
            waiting = others.submit(claim, 60.0)
            time.sleep(0.3)
        assert waiting.result()
