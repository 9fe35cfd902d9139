import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import type { ExportFile, ExportScope } from './export-file.ts';

/** Compresses to about 1 MB. A tar entry names its size before its content, so it is made in memory. */
const entryBytesMax = 4_194_304;

/** Two empty blocks (https://www.gnu.org/software/tar/manual/html_node/Standard.html). */
const endOfTar = Buffer.alloc(1024);

/** Ends the archive that the members of all areas make when they stand one after another. */
export const archiveEnd: Buffer = gzipSync(endOfTar);

export interface Member {
  readonly bytes: Buffer;
  /** Rows of the part up to here. */
  readonly rowsWritten: number;
}

/**
 * An area's part of a .tar.gz: a gzip member for each tar entry. Members in a row are one gzip file (RFC 1952, section 2.2),
 * so parts made in several processes join without being unpacked.
 */
export async function* membersOf(files: readonly ExportFile[], scope: ExportScope, modifiedAt: Date): AsyncIterable<Member> {
  let rowsWritten = 0;
  for (const file of files) {
    let number = 0;
    for await (const { text, rows } of entriesOf(file.rows(scope))) {
      number += 1;
      rowsWritten += rows;
      const name = `${file.name}-${String(number).padStart(4, '0')}.jsonl`;
      yield { bytes: await compress(await tarEntry(name, text, modifiedAt)), rowsWritten };
    }
  }
}

/** Lines up to the size of an entry; without rows, one empty entry that says so. */
async function* entriesOf(rows: AsyncIterable<object>): AsyncIterable<{ text: Buffer; rows: number }> {
  let lines: Buffer[] = [];
  let bytes = 0;
  let isFirst = true;
  for await (const row of rows) {
    const line = Buffer.from(`${JSON.stringify(row)}\n`);
    if (bytes > 0 && bytes + line.length > entryBytesMax) {
      yield { text: Buffer.concat(lines), rows: lines.length };
      isFirst = false;
      lines = [];
      bytes = 0;
    }
    lines.push(line);
    bytes += line.length;
  }
  if (isFirst || lines.length > 0) yield { text: Buffer.concat(lines), rows: lines.length };
}

async function tarEntry(name: string, content: Buffer, modifiedAt: Date): Promise<Buffer> {
  const archive = pack();
  archive.entry({ name, mtime: modifiedAt }, content);
  archive.finalize();
  return (await buffer(archive)).subarray(0, -endOfTar.length);
}

const compress = promisify(gzip) as (bytes: Buffer) => Promise<Buffer>;
