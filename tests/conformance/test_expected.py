"""Every corpus of every agent comes out as it was counted by hand."""

from __future__ import annotations

import pytest
from conformance.kit import Scenario, scenarios
from expected import check_scenario


@pytest.mark.parametrize("scenario", scenarios(), ids=str)
def test_sessions_are_as_counted_by_hand(scenario: Scenario) -> None:
    assert check_scenario(scenario.agent, scenario.folder) == []
