# SPDX-License-Identifier: Apache-2.0
from tb.common.coverage import Coverage
COVERAGE = Coverage("queue_pairs", [])
