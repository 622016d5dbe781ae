-- Oracle 12.2+: the sequences that are nearest to their end, with the identity columns that take their values. They end
-- with their own highest value, or with that of the column. Those that count down, or begin anew, are left out.
-- Database Reference: DBA_SEQUENCES, DBA_TAB_IDENTITY_COLS, DBA_TAB_COLUMNS.
SELECT q.con_id, q.holder, q.name, q.of_table, q.of_column, q.digits, TO_BINARY_DOUBLE(q.val), TO_BINARY_DOUBLE(q.lim)
FROM (
    SELECT s.con_id, s.sequence_owner AS holder, s.sequence_name AS name, i.table_name AS of_table, i.column_name AS of_column,
           c.data_precision - c.data_scale AS digits, s.last_number AS val,
           LEAST(s.max_value, COALESCE(POWER(10, c.data_precision - c.data_scale) - 1, s.max_value)) AS lim
    FROM cdb_sequences s
    LEFT JOIN cdb_tab_identity_cols i ON i.con_id = s.con_id AND i.owner = s.sequence_owner AND i.sequence_name = s.sequence_name
    LEFT JOIN cdb_tab_columns c ON c.con_id = i.con_id AND c.owner = i.owner AND c.table_name = i.table_name AND c.column_name = i.column_name
    WHERE s.increment_by > 0 AND s.cycle_flag = 'N' AND s.max_value > 0 AND s.last_number > 0
) q
WHERE q.lim > 0
ORDER BY q.val / q.lim DESC
FETCH FIRST 50 ROWS ONLY
