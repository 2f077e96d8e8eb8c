"""Plants faults in the program, to see that the tests find them. See
`scripts/torture mutants`."""
