# SPDX-License-Identifier: Apache-2.0
"""`make regress`: many runs by a plan, on one machine or many, and the page that says how they went."""
