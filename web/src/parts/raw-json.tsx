// A record as the API gives it, for programs.

import { common } from '../words/en/common.ts'
import { CopyButton } from './copy.tsx'

export function RawJson({ record }: { record: unknown }) {
  const text = JSON.stringify(record, null, 2)
  return (
    <details class="raw-json">
      <summary>{common.rawJson}</summary>
      <div class="stack">
        <pre class="code-block" dir="auto">
          {text}
        </pre>
        <div class="row">
          <CopyButton text={text} />
        </div>
      </div>
    </details>
  )
}
