/** The highest number that an agent's revisions, and what the edge was told of its source, have taken; 0 where there are none. */
export const lastSeq = (sql: SqlStorage, id: string): number =>
  sql
    .exec<{ seq: number }>(
      `SELECT COALESCE(MAX(seq), 0) AS seq FROM (
        SELECT MAX(seq) AS seq FROM revisions WHERE id = ?1 UNION ALL SELECT told FROM sources WHERE id = ?1)`,
      id,
    )
    .one().seq
