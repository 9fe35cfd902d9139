import { escape } from '../html.ts';

/** The frame of the pages under /docs: no script, nothing from elsewhere. */
export const docsPage = (title: string, content: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escape(title)}</title>
<style>
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 6%, transparent); }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
article { border-top: 1px solid var(--line); padding: 1rem 0; }
h3 { font: 600 1rem ui-monospace, monospace; margin: 0; } h3 b { display: inline-block; min-width: 4.5rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .875rem; } pre { background: var(--soft); padding: .75rem; overflow: auto; border-radius: .375rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); }
nav a { margin-right: 1rem; } summary { cursor: pointer; } :target { background: var(--soft); }
</style></head><body>
${content}
</body></html>
`;
