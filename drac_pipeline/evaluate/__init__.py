"""How well questions find chunks: questions with supporting facts, rival chunkings, judge, metrics, report.

questions ─┐
chunk sets ─┼► rankings ─► judge ─► metrics ─► comparisons with intervals ─► report
rankers ───┘
"""
