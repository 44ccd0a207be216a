/** The result of a fetch whose upstream cannot be reached, for whatever reason. */
export const unreachable = {
  failure: {
    status: 502,
    code: 'unreachable',
    message:
      "The card's address cannot be reached. Check that it is correct, public and https; the log of this host has the reason.",
  },
}

/** The result of a fetch whose response is not a card. */
export const invalidCard = (message: string) => ({ failure: { status: 502, code: 'invalid-card', message } })
