import { expect } from 'vitest';
import { z } from 'zod';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { whenProcessed } from '../harness/eventually.ts';
import { storeAll } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectError } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const client = as(sharedServer(), 'read_write');

/** A list (decisions §5 says `data`), of which only the ids are promised. */
const Related = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

clause('MEM-RELATED-001', 'decisions §8: GET /v1/memory/{id}/related answers objects near in meaning, not the object itself', async () => {
  const word = uniqueWord();
  const [telescope = '', nebula = '', invoice = ''] = await storeAll(client, [
    { content: `The ${word} observatory points its radio telescope at a pulsar in the galactic centre.` },
    { content: `Astronomers of the ${word} observatory photographed a pulsar nebula with a radio telescope.` },
    { content: `Travel expenses are reimbursed within a fortnight. ${uniqueWord()}` },
  ]);
  for (const id of [telescope, nebula, invoice]) await whenProcessed(client, id);
  const related = expectBody(await client.get(`/v1/memory/${telescope}/related`), 200, Related).data.map(({ id }) => id);
  expect(related[0]).toBe(nebula);
  expect(related).not.toContain(telescope);
});

clause('MEM-RELATED-002', 'interface §7: related of an unknown id is 404 not_found', async () => {
  expectError(await client.get('/v1/memory/mem_unknown/related'), 404, 'not_found');
});
