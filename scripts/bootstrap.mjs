// First step of every command. Runs on the Node that the machine has (20 or newer), with nothing installed: installs what is
// missing or stale, builds when sources are newer, then hands over to the product's own Node (node_modules/.bin/node).
//   bootstrap.mjs <file in dist> [arguments]     run it
//   bootstrap.mjs --vitest <arguments>           run tests
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const node = join(modules, '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
const lock = join(root, 'package-lock.json');
const installed = join(modules, '.quadrivium-lock');
const built = join(root, 'dist', '.built');
const sources = ['platform', 'gateway', 'subgraphs', 'schema', 'scripts', 'bench', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

// glibc gives each of many threads its own arena and keeps what they free, large buffers too: so set it takes 700 MB less, at the same speed.
// What V8 compiled is kept for the next start: 4,000 modules, a tenth of its time.
const env = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '1048576', NODE_COMPILE_CACHE: join(modules, '.cache', 'v8'), ...process.env, NODE_ENV: process.env.NODE_ENV ?? 'production', PATH: `${join(modules, '.bin')}${delimiter}${process.env.PATH ?? ''}` };

const say = (text) => process.stderr.write(`${text}\n`);

function must(what, command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env, ...options });
  if (status === 0) return;
  say(`\n${what} failed${error ? `: ${error.message}` : ''}. Mend what is said above, then run the same command again.`);
  process.exit(status ?? 1);
}

function install() {
  const wanted = readFileSync(lock, 'utf8');
  if (existsSync(node) && existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return;
  say('Installing dependencies (about a minute, once) …');
  // Development packages too: they build and test. The one install script that downloads from elsewhere is not wanted.
  must('npm ci', 'npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], { env: { ...env, NODE_ENV: '', npm_config_onnxruntime_node_install: 'skip' } });
  writeFileSync(installed, wanted);
}

/** The newest change below a path, in milliseconds. */
function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path).reduce((latest, name) => Math.max(latest, newest(join(path, name))), stat.mtimeMs);
}

function build() {
  const changed = Math.max(...sources.map((name) => newest(join(root, name))));
  if (existsSync(built) && statSync(built).mtimeMs > changed) return;
  say('Building …');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  must('The build', join(modules, '.bin', 'tsc'), ['-p', 'tsconfig.build.json']);
  const { stdout, status } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  writeFileSync(join(root, 'dist', '.commit'), status === 0 ? stdout : 'unknown');
  writeFileSync(built, '');
}

install();
build();

const [what, ...rest] = process.argv.slice(2);
const args = what === '--vitest' ? [join(modules, 'vitest', 'vitest.mjs'), 'run', ...rest] : [join(root, 'dist', what), ...rest];
const child = spawn(node, args, { cwd: root, stdio: 'inherit', env: what === '--vitest' ? { ...env, NODE_ENV: 'test' } : env });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));

// npm passes a signal to its shell only, which dies of it and leaves us behind: then the child is to stop as well.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) child.kill('SIGTERM');
}, 500).unref();
