"""Access to MLIR and StableHLO: facts of ops, walks, calls, values, constants and builders."""
