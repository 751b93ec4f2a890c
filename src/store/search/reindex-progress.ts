// Progress of re-indexing the messages of earlier versions (table `text_renewal`, migration 15).

import type { Reader, Tx } from '../../db/db.ts'

/** Message numbers: the last one done, and the last one to do. */
export interface ReindexProgress {
  after: number
  last: number
}

/** Undefined if nothing is left to do. */
export function readProgress(reader: Reader): ReindexProgress | undefined {
  return reader.get<ReindexProgress>('SELECT place AS "after", last FROM text_renewal')
}

export function saveProgress(tx: Tx, after: number): void {
  tx.run('UPDATE text_renewal SET place = ?', [after])
}

export function endReindexing(tx: Tx): void {
  tx.run('DELETE FROM text_renewal')
}
