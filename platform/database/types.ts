import pg from 'pg';

const { INT8, DATE, TIMESTAMP, INTERVAL } = pg.types.builtins;
const INT8_ARRAY = 1016;

/**
 * How values of the database become JavaScript. `pg` gives Date for timestamptz, Buffer for bytea, string for numeric; all of
 * our bigints stay below 2^53, so they become numbers. MikroORM would have timestamps left as text, but takes dates as well.
 */
const parsers: Record<number, (text: string) => unknown> = {
  [INT8]: Number,
  [INT8_ARRAY]: (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map((item) => (item === 'NULL' ? null : Number(item)))),
  [DATE]: String,
  [TIMESTAMP]: String,
  [INTERVAL]: String,
};

export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => parsers[oid] ?? pg.types.getTypeParser(oid, format),
};
