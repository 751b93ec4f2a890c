// How far the texts of earlier versions have got into the index anew (migration 15).

import type { Reader, Tx } from '../../db/db.ts'

/** Numbers of messages: the last one that is done, and the last one there is to do. */
export interface Renewal {
  place: number
  last: number
}

/** Undefined when nothing is left to do. */
export async function openRenewal(reader: Reader): Promise<Renewal | undefined> {
  return reader.get<Renewal>('SELECT place, last FROM text_renewal')
}

export async function moveRenewal(tx: Tx, place: number): Promise<void> {
  await tx.run('UPDATE text_renewal SET place = ?', [place])
}

export async function endRenewal(tx: Tx): Promise<void> {
  await tx.run('DELETE FROM text_renewal')
}
