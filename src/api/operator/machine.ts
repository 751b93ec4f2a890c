// The machine as the operator sees it: versions, memory, threads, and the disk of the data folder.

import { readFile, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { PROGRAM_VERSION } from '../../config/version.ts'
import { route } from '../../http/route.ts'
import { Nullable } from '../../http/schema.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'

const Bytes = (description: string) => Type.Integer({ minimum: 0, description })

export const readMachine = route({
  method: 'GET',
  surface: 'operator',
  path: '/machine',
  docs: {
    operation: 'getMachine',
    tag: 'Service',
    summary: 'Get versions, memory, threads and disk space',
    description: 'Bytes of the process and of the disk with the data folder.',
  },
  access: { as: 'operator' },
  reply: {
    schema: record('Machine', 'The machine that the appliance runs on.', {
      version: Type.String({ description: 'Of the appliance.' }),
      node: Type.String(),
      platform: Type.String({ description: 'Operating system and processor.', examples: ['linux x64'] }),
      started_at: TimeOf('When the process started.'),
      resident_bytes: Bytes('Resident memory of the process.'),
      heap_bytes: Bytes('Heap of the first thread in use.'),
      threads: Nullable(
        Type.Integer({ minimum: 1, description: 'Of the process; null where the system does not say.' }),
      ),
      disk_free_bytes: Bytes('What may still be written to the disk of the data folder.'),
      disk_bytes: Bytes('Size of that disk.'),
      mail_bytes: Bytes('Size of mail.db.'),
      blobs_bytes: Bytes('Size of blobs.db.'),
    }),
  },
  async handle({ app: { clock, config } }) {
    const { rss, heapUsed } = process.memoryUsage()
    const [disk, mail, blobs, threads] = await Promise.all([
      statfs(config.DATA_DIR),
      stat(join(config.DATA_DIR, 'mail.db')),
      stat(join(config.DATA_DIR, 'blobs.db')),
      countThreads(),
    ])
    return {
      version: PROGRAM_VERSION,
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      started_at: isoTime(Math.round(clock.now() - process.uptime() * 1000)),
      resident_bytes: rss,
      heap_bytes: heapUsed,
      threads,
      disk_free_bytes: disk.bavail * disk.bsize,
      disk_bytes: disk.blocks * disk.bsize,
      mail_bytes: mail.size,
      blobs_bytes: blobs.size,
    }
  },
})

/** The threads of this process, those of Node and SQLite included; null on systems without /proc. */
async function countThreads(): Promise<number | null> {
  const text = await readFile('/proc/self/status', 'utf8').catch(() => '')
  const [, count] = /^Threads:\s*(\d+)$/m.exec(text) ?? []
  return count === undefined ? null : Number(count)
}
