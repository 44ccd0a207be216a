// A gateway that checks nothing: it forwards requests and responses as they are.

export default {
  fetch: (request, env) => fetch(new Request(env.UPSTREAM, request)),
}
