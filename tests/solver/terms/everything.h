typedef struct everything {
    float size, limit;
} everything;
