// Copies of the two databases as they were at one and the same moment, made beside an appliance at work.

import { backup, DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'

/** Where a database lies, and where its copy is to lie: a file that is not there yet. */
export interface Copy {
  from: string
  to: string
}

// 1 MiB at a time: each step is taken by a thread of Node's pool, and whatever else this process does goes on between two of them.
const PAGES_AT_ONCE = 256
const BUSY_WAIT_MS = 2
const BUSY_TRIES = 5000

/**
 * Copies `mail` and `blobs` as of one moment. Content is written to blobs.db before the row of mail.db that names it, and erased only
 * when no row names it: at any one moment whatever mail.db names is in blobs.db, at two moments it need not be. Were mail.db copied
 * first, a message destroyed meanwhile could take its content along before blobs.db is reached; were blobs.db copied first, it would
 * lack what came meanwhile. So both are looked at while nobody may write blobs.db, which takes a moment, and both looks are held
 * until the copies are made: the appliance goes on writing behind them, and its write-ahead logs grow by what it writes meanwhile.
 * (Without a look that is held, SQLite begins a copy anew with every write, and under steady mail would never end.)
 * @throws Error of SQLite: a file that cannot be read, a disk that is full
 */
export async function copyTogether(mail: Copy, blobs: Copy): Promise<void> {
  const looks = [new DatabaseSync(mail.from, READER), new DatabaseSync(blobs.from, READER)]
  try {
    await holdStill(blobs.from, () => looks.forEach(hold))
    await backup(looks[0]!, mail.to, { rate: PAGES_AT_ONCE })
    await backup(looks[1]!, blobs.to, { rate: PAGES_AT_ONCE })
  } finally {
    for (const look of looks) look.close()
  }
}

const READER = { readOnly: true, timeout: 0 }

/** Runs `work` while nobody writes the file. Waiting for one who does blocks nobody else. */
async function holdStill(file: string, work: () => void): Promise<void> {
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    for (let tries = 0; ; tries++) {
      try {
        lock.exec('BEGIN IMMEDIATE')
        return work()
      } catch (error) {
        // Somebody writes, or an appliance that starts or ends is putting its log in order.
        if (!isBusy(error) || tries >= BUSY_TRIES) throw error
        end(lock)
        await pause(BUSY_WAIT_MS)
      }
    }
  } finally {
    lock.close()
  }
}

/** From here on the connection sees the file as it is now. BEGIN alone looks at nothing yet. */
function hold(look: DatabaseSync): void {
  end(look)
  look.exec('BEGIN')
  look.prepare('SELECT count(*) FROM sqlite_schema').get()
}

function end(connection: DatabaseSync): void {
  if (connection.isTransaction) connection.exec('ROLLBACK')
}

function isBusy(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % 256 === 5
}
