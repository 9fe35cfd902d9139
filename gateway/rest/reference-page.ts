import { escape } from '../html.ts';
import type { Json, OpenApi } from './openapi.ts';

/** The OpenAPI description as one plain, readable page: no script, nothing from elsewhere. */
export function referencePage({ info, tags, paths }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })));
  const sections = tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => (operation.tags as string[])[0] === name);
    return `<section id="${escape(name)}"><h2>${escape(name)}</h2>${own.map(operationHtml).join('')}</section>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escape(info.title)} API reference</title>
<style>
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 6%, transparent); }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
article { border-top: 1px solid var(--line); padding: 1rem 0; }
h3 { font: 600 1rem ui-monospace, monospace; margin: 0; } h3 b { display: inline-block; min-width: 4.5rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .875rem; } pre { background: var(--soft); padding: .75rem; overflow: auto; border-radius: .375rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); }
nav a { margin-right: 1rem; } summary { cursor: pointer; }
</style></head><body>
<h1>${escape(info.title)} <small>${escape(info.version)}</small></h1>
<p>${escape(info.description)} Machine-readable: <a href="/openapi.json">/openapi.json</a>.</p>
<p>Authenticate with <code>Authorization: Bearer &lt;API key&gt;</code>. Errors: <code>{ "error": { "code", "message", "request_id", "status" } }</code>, with <code>details</code> naming each fault of the input.</p>
<nav>${tags.map(({ name }) => `<a href="#${escape(name)}">${escape(name)}</a>`).join('')}</nav>
${sections.join('\n')}
</body></html>
`;
}

function operationHtml({ path, method, operation }: { path: string; method: string; operation: Json }): string {
  const parameters = operation.parameters as Json[];
  const body = (operation.requestBody as { content: Record<string, { schema: Json }> } | undefined)?.content['application/json']?.schema;
  return `<article><h3><b>${method}</b>${escape(path)}</h3><p>${escape(String(operation.summary))}.</p>
${parameters.length > 0 ? `<table><thead><tr><th>Parameter</th><th>In</th><th>Meaning</th></tr></thead><tbody>${parameters.map(parameterHtml).join('')}</tbody></table>` : ''}
${body ? schemaHtml('Request body', body) : ''}${responseHtml(operation.responses as Record<string, { content?: Record<string, { schema: Json }> }>)}</article>`;
}

const parameterHtml = ({ name, in: place, required, description, schema }: Json): string =>
  `<tr><td><code>${escape(String(name))}</code>${required ? ' (required)' : ''}</td><td>${escape(String(place))}</td><td>${escape(String(description ?? rangeOf(schema as Json)))}</td></tr>`;

const rangeOf = (schema: Json): string => (Array.isArray(schema.enum) ? schema.enum.join(', ') : String(schema.type ?? ''));

const schemaHtml = (title: string, schema: Json): string => `<details><summary>${title}</summary><pre>${escape(JSON.stringify(schema, null, 2))}</pre></details>`;

const responseHtml = (responses: Record<string, { content?: Record<string, { schema: Json }> }>): string =>
  Object.entries(responses)
    .filter(([status, { content }]) => status !== 'default' && content)
    .map(([status, { content }]) => schemaHtml(`Response ${status}`, content!['application/json']!.schema))
    .join('');
