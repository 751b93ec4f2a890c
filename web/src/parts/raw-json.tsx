// A record as the API gives it, for programs.

import { useState } from 'preact/hooks'
import { common } from '../words/en/common.ts'
import { CopyButton } from './copy.tsx'

/** Made when it is opened: every opened row has one. */
export function RawJson({ record }: { record: unknown }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="raw-json" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{common.rawJson}</summary>
      {isOpen && <Text text={JSON.stringify(record, null, 2)} />}
    </details>
  )
}

function Text({ text }: { text: string }) {
  return (
    <div class="stack">
      <pre class="code-block" dir="auto">
        {text}
      </pre>
      <div class="row">
        <CopyButton text={text} />
      </div>
    </div>
  )
}
