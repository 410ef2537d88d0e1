"""Shipped with the package: fakes, and suites by which an adapter proves that it keeps the contract of its port."""
