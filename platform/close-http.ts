import type { FastifyInstance } from 'fastify';

/**
 * Takes nobody new and ends what is in hand. A connection whose answer comes after the close began would stay open, idle, until
 * its keep-alive runs out (72 s), so idle ones are closed again and again.
 */
export async function closeHttp(http: Pick<FastifyInstance, 'close' | 'server'>): Promise<void> {
  const idle = setInterval(() => http.server.closeIdleConnections(), 100);
  try {
    await http.close();
  } finally {
    clearInterval(idle);
  }
}
