// A sentence that the server wrote: it is English in every language of the pages.

export function ServerText({ children }: { children: string }) {
  return <bdi lang="en">{children}</bdi>
}
