import { escape } from '../html.ts';
import { docsPage } from './docs-page.ts';
import type { Json, OpenApi } from './openapi.ts';

/** The OpenAPI description as one plain, readable page. */
export function referencePage({ info, tags, paths }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })));
  const sections = tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => (operation.tags as string[])[0] === name);
    return `<section id="${escape(name)}"><h2>${escape(name)}</h2>${own.map(operationHtml).join('')}</section>`;
  });
  return docsPage(
    `${info.title} API reference`,
    `<h1>${escape(info.title)} <small>${escape(info.version)}</small></h1>
<p>${escape(info.description)} Machine-readable: <a href="/openapi.json">/openapi.json</a>.</p>
<p>Authenticate with <code>Authorization: Bearer &lt;credential&gt;</code>: an API key (<code>qk_</code>), a session (<code>qs_</code>), a publisher token (<code>qp_</code>) or an OAuth access token. Errors: <code>{ "error": { "code", "message", "request_id", "status" } }</code>, with <code>details</code> naming each fault of the input. <a href="/docs/api-errors">All codes</a>.</p>
<nav>${tags.map(({ name }) => `<a href="#${escape(name)}">${escape(name)}</a>`).join('')}</nav>
${sections.join('\n')}`,
  );
}

function operationHtml({ path, method, operation }: { path: string; method: string; operation: Json }): string {
  const parameters = operation.parameters as Json[];
  const body = (operation.requestBody as { content: Record<string, { schema: Json }> } | undefined)?.content['application/json']?.schema;
  return `<article id="${escape(String(operation.operationId ?? path))}"><h3><b>${method}</b>${escape(path)}</h3><p>${escape(String(operation.summary))}.</p>
${operation.deprecated ? `<p><strong>${escape(String(operation.description))}.</strong></p>` : ''}
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
