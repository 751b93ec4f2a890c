// The text of a message: links lead out, quotations are folded.

import { useMemo } from 'preact/hooks'
import { blocksOf, piecesOf, type TextBlock } from '../base/message-text.ts'
import { mail as words } from '../words/en/mail.ts'

export function MessageText({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text])
  return (
    <div class="message-text" dir="auto">
      {blocks.map((block, index) =>
        block.isQuoted ? (
          <details key={index} class="message-quote">
            <summary>{words.quoted}</summary>
            <Lines block={block} />
          </details>
        ) : (
          <Lines key={index} block={block} />
        ),
      )}
    </div>
  )
}

function Lines({ block: { lines } }: { block: TextBlock }) {
  return (
    <div class="message-lines">
      {lines.map((line, index) => (
        <Line key={index} line={line} isLast={index === lines.length - 1} />
      ))}
    </div>
  )
}

function Line({ line, isLast }: { line: string; isLast: boolean }) {
  return (
    <>
      {piecesOf(line).map((piece, index) =>
        piece.kind === 'text' ? (
          piece.text
        ) : (
          <a key={index} href={piece.href} target="_blank" rel="noopener noreferrer nofollow">
            {piece.text}
          </a>
        ),
      )}
      {!isLast && '\n'}
    </>
  )
}
