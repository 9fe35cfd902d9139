import { createServer } from 'node:http';
import type { Server } from 'node:http';

/** A plain listener that sends everyone to HTTPS, with the same path and query. */
export function startRedirect(host: string, port: number, httpsPort: number): Promise<Server> {
  const server = createServer((request, response) => {
    const name = (request.headers.host ?? host).replace(/:\d+$/, '');
    const authority = httpsPort === 443 ? name : `${name}:${httpsPort}`;
    response.writeHead(301, { location: `https://${authority}${request.url ?? '/'}` }).end();
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}
