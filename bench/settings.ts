// The settings of the appliance in all benchmarks: all checks on, loopback only, limits above one load generator.

import { FREE_PORTS } from '../test/support/free-ports.ts'

export function applianceEnv(dataDir: string, dns: string): Record<string, string> {
  return {
    DATA_DIR: dataDir,
    LOG_LEVEL: 'error',
    ...FREE_PORTS,
    HTTP_BIND: '127.0.0.1',
    SMTP_BIND: '127.0.0.1',
    APP_ORIGIN: 'http://app.bench.test',
    SEND_ORIGIN: 'http://send.bench.test',
    MAIL_HOSTS: 'mx.bench.test',
    DNS_SERVERS: dns,
    // One address and one key stand for many.
    SMTP_MAX_PER_ADDRESS: '5000',
    RATE_LIMIT_PER_MINUTE: '1000000',
  }
}
