// Where the focus goes when what had it is gone: the title of the page, from which the next Tab reaches its content.

export function focusTitle(): void {
  document.querySelector<HTMLElement>('h1')?.focus()
}
