import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readConfig, settingRows } from '#platform/config.ts';
import { subgraphs } from '../../subgraphs/register.ts';
import { repositoryRoot } from '../harness/server.ts';
import { productTree } from './source-tree.ts';

// The images cannot be built everywhere; what can be known without building is checked here.

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
const dockerfile = read('docker/Dockerfile');
const Service = z.looseObject({
  image: z.string(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  ports: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.unknown()).default({}),
});
const { services } = z.looseObject({ services: z.record(z.string(), Service) }).parse(parse(read('docker/compose.yaml'), { merge: true }));
const ours = Object.entries(services).filter(([, { image }]) => image === 'quadrivium');

/** As compose fills them in. */
const filled = (environment: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value.replace(/\$\{\w+:\?\}/g, 'x'.repeat(32))]));

test('compose runs the gateway, every area and a worker', () => {
  expect(ours.map(([name]) => name).sort()).toEqual([...subgraphs.map(({ name }) => name), 'gateway', 'worker'].sort());
});

test('every command is a file of the build, with arguments that it knows', () => {
  for (const [name, { command = [] }] of ours) {
    const [node, file = '', ...rest] = command;
    expect(node).toBe('node');
    expect(existsSync(join(repositoryRoot, file.replace(/^dist\/(.+)\.js$/, '$1.ts'))), `${name}: ${file}`).toBe(true);
    expect(rest).toEqual(name === 'gateway' ? ['--remote'] : name === 'worker' ? ['--work'] : ['--serve', name]);
  }
});

test('every variable is a setting, and the settings are valid together', () => {
  const known = settingRows().map(({ name }) => name);
  for (const [name, { environment }] of ours) {
    expect(known, name).toEqual(expect.arrayContaining(Object.keys(environment)));
    expect(() => readConfig(filled(environment)), name).not.toThrow();
  }
});

test('the gateway knows each area by its service and port', () => {
  const { subgraphUrls } = readConfig(filled(services['gateway']!.environment));
  expect(subgraphUrls).toEqual(Object.fromEntries(subgraphs.map(({ name }) => [name, `http://${name}:${services[name]?.environment['PORT']}/graphql`])));
});

test('only the gateway is published, to this machine, on the port that it listens on and the image exposes', () => {
  expect(ours.flatMap(([name, { ports }]) => ports.map((port) => [name, port]))).toEqual([['gateway', '127.0.0.1:4000:4000']]);
  expect(services['gateway']!.environment['PORT']).toBe('4000');
  expect(dockerfile).toMatch(/^EXPOSE 4000$/m);
});

test('every secret that compose asks for stands in docker/.env.example', () => {
  const asked = [...read('docker/compose.yaml').matchAll(/\$\{(\w+):\?\}/g)].map(([, name]) => name!);
  const offered = [...read('docker/.env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name!);
  expect([...new Set(asked)].sort()).toEqual(offered.sort());
});

test('the image copies what exists, and runs as nobody in particular', () => {
  for (const [, sources = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
    for (const source of sources.split(' ')) expect(existsSync(join(repositoryRoot, source)), source).toBe(true);
  }
  expect(dockerfile).toMatch(/^USER node$/m);
  expect(dockerfile).toMatch(/^HEALTHCHECK /m);
});

test('what the product imports is a dependency, not only of its development', () => {
  const { dependencies } = z.looseObject({ dependencies: z.record(z.string(), z.string()) }).parse(JSON.parse(read('package.json')));
  const packages = productTree().flatMap(({ path, imports }) =>
    imports.filter(({ specifier, isTypeOnly }) => !isTypeOnly && !/^(\.|#|node:)/.test(specifier)).map(({ specifier }) => [specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/'), path] as const),
  );
  expect(packages.filter(([name]) => !(name in dependencies))).toEqual([]);
});
