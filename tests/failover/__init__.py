"""Breaks the primary of a PostgreSQL cluster again and again while clients
write and read, and checks what they were told. See `scripts/torture postgres`."""
