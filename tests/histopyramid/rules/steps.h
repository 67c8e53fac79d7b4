typedef struct steps {
    double least;
} steps;
