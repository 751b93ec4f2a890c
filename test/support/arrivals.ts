// A received message, for tests that need only some of its properties.

import type { InspectionRequest } from '../../src/workers/inspection.ts'

export const ARRIVED_AT = Date.UTC(2026, 10, 20, 12, 0, 0)

export function arrival(given: Partial<InspectionRequest> = {}): InspectionRequest {
  return {
    remoteAddress: '192.0.2.1',
    remoteName: 'out.sender.test',
    helo: 'out.sender.test',
    mailFrom: 'ann@sender.test',
    tls: null,
    protocol: 'ESMTP',
    receivedAt: ARRIVED_AT,
    hostName: 'mx.house.test',
    queueId: 'q1',
    rcptTo: null,
    isForReports: false,
    spamKey: 1,
    scripts: [],
    ...given,
  }
}
