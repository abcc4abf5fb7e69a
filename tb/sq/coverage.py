# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the send queues."""

from __future__ import annotations

from tb.common.coverage import Coverage

COVERAGE = Coverage("sq", [])
