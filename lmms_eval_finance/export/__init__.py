"""The benchmarks as task folders in the hosts' own layout, ready to be proposed there."""
