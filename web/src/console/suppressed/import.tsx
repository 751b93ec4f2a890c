// Suppresses many addresses: pasted, or from a file.

import { useState } from 'preact/hooks'
import { take } from '../../api/client.ts'
import { type AddressLine, addressesOf } from '../../base/csv-addresses.ts'
import { count, plural } from '../../base/numbers.ts'
import { refresh, useAction } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { common } from '../../words/en/common.ts'
import { suppressed } from '../../words/en/suppressed.ts'
import { type OpenTeam, useTeam } from '../team.ts'

const words = suppressed.import
/** Addresses of one request, and of one import. */
const PART = 1000
const ADDRESSES_MAX = 20_000
const FILE_MAX = 5_000_000
/** Invalid entries that are shown. */
const SHOWN_MAX = 20

interface Result {
  added: number
  known: number
  invalid: string[]
}

async function importAll(
  { api }: OpenTeam,
  all: readonly AddressLine[],
  onDone: (sent: number) => void,
): Promise<Result> {
  const result: Result = { added: 0, known: 0, invalid: [] }
  for (let at = 0; at < all.length; at += PART) {
    const addresses = all.slice(at, at + PART)
    const { added, known, invalid } = await take(api.POST('/suppressions/import', { body: { addresses } }))
    result.added += added
    result.known += known
    result.invalid.push(...invalid.map((index) => addresses[index]!.email))
    onDone(at + addresses.length)
  }
  return result
}

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const team = useTeam()
  const [text, setText] = useState('')
  const [sent, setSent] = useState(0)
  const [result, setResult] = useState<Result | null>(null)
  const found = addressesOf(text)
  const isTooMany = found.length > ADDRESSES_MAX
  const run = useAction(async () => {
    setResult(await importAll(team, found, setSent))
    refresh(team.id, 'suppressed')
  })
  if (result !== null) return <Done result={result} onClose={onClose} />
  return (
    <Dialog
      title={words.title}
      isWide
      foot={<FormFoot verb={words.verb} action={run} isOff={found.length === 0 || isTooMany} onClose={onClose} />}
      error={run.error}
      onClose={onClose}
      onSubmit={() => void run.run()}
    >
      <p class="soft">{words.text}</p>
      <FileField onText={setText} />
      <TextField
        label={words.list}
        lines={8}
        isMono
        value={text}
        onValue={setText}
        hint={words.found(plural(found.length, words.address, words.addresses))}
        error={isTooMany ? words.tooMany(count(ADDRESSES_MAX)) : undefined}
        isOwnError
      />
      <p class="soft" role="status">
        {run.isBusy ? words.progress(count(sent), count(found.length)) : ''}
      </p>
    </Dialog>
  )
}

function FileField({ onText }: { onText: (text: string) => void }) {
  const [isTooLarge, setTooLarge] = useState(false)
  return (
    <div class="field">
      <label for="suppressed-file">{words.file}</label>
      <input
        id="suppressed-file"
        type="file"
        accept=".csv,.txt,text/csv,text/plain"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0]
          setTooLarge(file !== undefined && file.size > FILE_MAX)
          if (file !== undefined && file.size <= FILE_MAX) void file.text().then(onText)
        }}
      />
      {isTooLarge && <p class="hint wrong">{words.fileTooLarge}</p>}
    </div>
  )
}

function Done({ result: { added, known, invalid }, onClose }: { result: Result; onClose: () => void }) {
  return (
    <Dialog title={words.title} isWide foot={<Button onPress={onClose}>{common.done}</Button>} onClose={onClose}>
      <p role="status">{words.result(plural(added, words.address, words.addresses), count(known))}</p>
      {invalid.length > 0 && (
        <>
          <p>{words.invalid(plural(invalid.length, words.isInvalid, words.areInvalid))}</p>
          <p class="code-block">
            <Foreign>{invalid.slice(0, SHOWN_MAX).join('\n')}</Foreign>
          </p>
        </>
      )}
    </Dialog>
  )
}
