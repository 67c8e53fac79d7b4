/* Rules of an automaton on a torus: bit n of `born` and `stays`: what happens to dead and living cells with n living neighbours. */
typedef struct life {
    int born, stays;
} life;
