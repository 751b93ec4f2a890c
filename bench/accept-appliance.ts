// Child process: accepts messages for sending over HTTP and leaves them queued (no workers); also runs the raw inserts it is compared with.

import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { routes } from '../src/api/routes.ts'
import { sha256 } from '../src/base/secrets.ts'
import { loadConfig } from '../src/config/load.ts'
import { type Context, openContext } from '../src/context.ts'
import { Db } from '../src/db/db.ts'
import { migrate } from '../src/db/migrate.ts'
import { blobMigrations } from '../src/db/migrations/migrations.ts'
import { DbThreads } from '../src/db/threads.ts'
import { openHttp } from '../src/http/app.ts'
import { chunksOf } from '../src/mime/chunks.ts'
import { Blobs } from '../src/store/content/blobs.ts'

/** Sent to the parent once the listener is open. */
export interface AcceptReady {
  send: number
  key: string
}

/** A request for raw inserts: contents of one size, several per unit of work. */
export interface RawRequest {
  contents: number
  bytes: number
  batch: number
  /** Concurrent units of work. */
  atOnce: number
}

async function seedTeam({ directory }: Context): Promise<string> {
  const team = await directory.teams.create({ name: 'Bench' })
  await directory.domains.create(team.id, 'bench.test')
  const key = { teamId: team.id, kind: 'root', name: 'bench', role: 'root:full', createdBy: 'operator' } as const
  return (await directory.keys.issue(key)).secret
}

/** Inserts into a blob store alone, in a separate file. @returns contents per second */
async function insertRaw(folder: string, { contents, bytes, batch, atOnce }: RawRequest): Promise<number> {
  mkdirSync(folder, { recursive: true })
  const threads = new DbThreads(1)
  const db = new Db({ file: join(folder, 'raw.db'), threads })
  await migrate(db, blobMigrations)
  const blobs = new Blobs(db, app.clock)
  const filling = Buffer.alloc(bytes, 'The same bytes as a mail has. ')
  const all = Array.from({ length: contents }, (_, n) => {
    const content = Buffer.from(filling)
    content.writeUInt32BE(n)
    return { hash: sha256(content), sizeBytes: bytes, chunks: chunksOf(content) }
  })
  const started = performance.now()
  let next = 0
  const work = async () => {
    while (next < contents) {
      const from = next
      next += batch
      await blobs.putAll(all.slice(from, next))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const seconds = (performance.now() - started) / 1000
  await threads.close()
  await db.close()
  return contents / seconds
}

const config = loadConfig(process.env)
const app = await openContext(config)
const http = openHttp(app, routes)
await http.start()
process.on('message', async (request: RawRequest) => {
  process.send!({ perSecond: await insertRaw(join(config.DATA_DIR, 'raw'), request) })
})
process.send!({ send: http.ports.send, key: await seedTeam(app) } satisfies AcceptReady)
await once(process, 'SIGTERM')
await http.stop()
await app.close()
process.exit(0)
