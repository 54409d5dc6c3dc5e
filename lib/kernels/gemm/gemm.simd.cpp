#include "kernels/families.hpp"
#include "kernels/gemm/blocking.hpp"
#include "kernels/gemm/dot.hpp"
#include "kernels/gemm/epilogue.hpp"
#include "kernels/gemm/pack.hpp"
#include "kernels/square_sum.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

/// The part of C that is being computed, and the steps of k that are being added to it.
struct Block {
    std::int64_t row, rows;
    std::int64_t col, cols;
    std::int64_t p, depth;
    bool first, last;
    float* waiting;      ///< (rows, tile_cols): one panel of C that cannot go straight to C
    SquareSum* squares;  ///< of the finished elements of C; null when nobody asks
};

/// Where partial sums over k wait: in C, or, when C (or the residual in its place) is still needed for the epilogue, in
/// Block::waiting.
bool partial_sums_in_c(const GemmArgs<float>& args) {
    return is_plain(args) || (!args.accumulate && args.epilogue.residual != args.c);
}

Block tile_block(const GemmArgs<float>& args, const GemmTiling& tiles, std::int64_t tile, float* waiting) {
    Block block{};
    block.waiting = waiting;
    block.row = tile % tiles.row_tiles * tiles.rows;
    block.rows = least(tiles.rows, args.m - block.row);
    block.col = tile / tiles.row_tiles * tiles.cols;
    block.cols = least(tiles.cols, args.n - block.col);
    return block;
}

EvenSplit strips_of(const Block& block) { return {block.rows, divide_up(block.rows, tile_rows)}; }

struct Panel {
    const float* data;
    std::int64_t ld;
};

/// A of one block, read in place: row r, step p at data[r * ld + p] or, contiguous across the rows, data[p * ld + r].
struct Rows {
    const float* data;
    std::int64_t ld;
    Contiguous contiguous;
};

/// The panel of B that comes next: `steps` rows of tile_cols floats.
struct Ahead {
    Panel panel;
    std::int64_t steps;
};

/// Asks for strip s's share of the next panel.
void prefetch(const Ahead& ahead, const EvenSplit& strips, std::int64_t s) {
    const EvenSplit shares{ahead.steps, strips.parts};
    const std::int64_t end = shares.begin(s + 1);
    for (std::int64_t p = shares.begin(s); p < end; ++p) {
        const float* row = ahead.panel.data + p * ahead.panel.ld;
        for (std::int64_t j = 0; j < tile_cols; j += 16) __builtin_prefetch(row + j, 0, 3);
    }
}

/// One panel of B times all strips of A: columns [col, col + cols) of the block, cols <= tile_cols.
void multiply_panel(const GemmArgs<float>& args, const Block& block, const Rows& a, Panel b, const Ahead& ahead,
                    std::int64_t col, std::int64_t cols) {
    const bool plain = is_plain(args);
    const bool in_c = partial_sums_in_c(args);
    const bool direct = in_c && (plain || !block.last);
    const bool on_top_of_c = in_c && (!block.first || (plain && args.accumulate));
    const MicroTable& kernels =
        a.contiguous == Contiguous::rows ? micros<Contiguous::rows>(cols) : micros<Contiguous::depth>(cols);
    MicroArgs micro{};
    micro.k = block.depth;
    micro.lda = a.ld;
    micro.b = b.data;
    micro.ldb = b.ld;
    micro.cols = cols;

    const EvenSplit strips = strips_of(block);
    for (std::int64_t s = 0; s < strips.parts; ++s) {
        const std::int64_t begin = strips.begin(s);
        const std::int64_t rows = strips.begin(s + 1) - begin;
        if (direct) {
            micro.out = args.c + (block.row + begin) * args.ldc + col;
            micro.ld_out = args.ldc;
            micro.init = on_top_of_c ? micro.out : plain && args.epilogue.bias ? args.epilogue.bias + col : nullptr;
            micro.ld_init = on_top_of_c ? args.ldc : 0;
        } else {
            micro.out = block.waiting + begin * tile_cols;
            micro.ld_out = tile_cols;
            micro.init = in_c || block.first ? nullptr : micro.out;
            micro.ld_init = tile_cols;
        }
        micro.a = a.data + begin * (a.contiguous == Contiguous::rows ? 1 : a.ld);
        prefetch(ahead, strips, s);
        if (!direct && block.last) prefetch_operands(args, block.row + begin, rows, col, cols);
        kernels.of[rows](micro);
        if (!direct && block.last) finish(args, {micro.out, block.row + begin, rows, col, cols, on_top_of_c});
    }
}

std::int64_t packed_elements(std::int64_t n, std::int64_t k) { return panels(n) * tile_cols * k; }

template <class Target>
void pack_panels_nt(const float* b, std::int64_t ldb, std::int64_t n, std::int64_t k, float* packed, std::int64_t begin,
                    std::int64_t end) {
    for (std::int64_t panel = begin; panel < end; ++panel) {
        const std::int64_t col = panel * tile_cols;
        pack_panel_nt<Target>(b + col * ldb, ldb, least(tile_cols, n - col), k, packed + col * k);
    }
}

void pack_nt(const float* b, std::int64_t ldb, std::int64_t n, std::int64_t k, float* packed, std::int64_t begin,
             std::int64_t end) {
    pack_panels_nt<IntoCaches>(b, ldb, n, k, packed, begin, end);
}

void pack_nt_streaming(const float* b, std::int64_t ldb, std::int64_t n, std::int64_t k, float* packed,
                       std::int64_t begin, std::int64_t end) {
    pack_panels_nt<PastCaches>(b, ldb, n, k, packed, begin, end);
    end_streaming();
}

void pack_nn(const float* b, std::int64_t ldb, std::int64_t n, std::int64_t k, float* packed, std::int64_t begin,
             std::int64_t end) {
    for (std::int64_t panel = begin; panel < end; ++panel) {
        const std::int64_t col = panel * tile_cols;
        pack_panel_nn(b + col, ldb, least(tile_cols, n - col), k, packed + col * k);
    }
}

/// Rows of B (K,N) whose distance is a multiple of 4 KiB all fall into the same few sets of L1 and L2.
bool rows_collide(std::int64_t ldb) { return ldb % 1024 == 0; }

/// True when B (nt) is read in place, row by row, as it comes from memory: a panel would not be used often enough.
/// Short rows of B leave little between one horizontal sum and the next; only a single row of A then does without
/// panels.
bool reads_rows(std::int64_t m, std::int64_t k) { return m <= (k >= 128 ? max_dot_rows : 1); }

/// nt: always, but for a few rows, which read B in place at full bandwidth. nn reads B in place
/// within 3 % of the speed of panels, less than packing costs at 256 rows, unless the rows of B collide (12 %).
bool wants_packed(GemmForm form, std::int64_t m, std::int64_t n, std::int64_t k) {
    if (form == GemmForm::nt) return !reads_rows(m, k);
    return form == GemmForm::nn && rows_collide(n) && m >= 128 && k >= 256;
}

/// A panel whose rows collide is copied when enough strips of A use the copy. Any other is read where it is, which
/// costs less.
bool read_in_place(const Block& block, std::int64_t ldb, std::int64_t cols) {
    if (!has_masked_loads && cols < tile_cols) return false;
    return !rows_collide(ldb) || block.depth < 32 || block.rows < 4 * tile_rows;
}

/// The panel of B at column col for the block's steps, packed into `scratch` where it cannot be read in place.
template <GemmForm form>
Panel panel_of_b(const GemmArgs<float>& args, const Block& block, std::int64_t col, std::int64_t cols, float* scratch) {
    if (form != GemmForm::tn && args.packed_b) {
        return {args.packed_b + col * args.k + block.p * tile_cols, tile_cols};
    }
    if constexpr (form == GemmForm::nt) {
        pack_panel_nt(args.b + col * args.ldb + block.p, args.ldb, cols, block.depth, scratch);
    } else {
        const float* b = args.b + block.p * args.ldb + col;
        if (read_in_place(block, args.ldb, cols)) return {b, args.ldb};
        pack_panel_nn(b, args.ldb, cols, block.depth, scratch);
    }
    return {scratch, tile_cols};
}

template <GemmForm form>
Ahead panel_ahead(const GemmArgs<float>& args, const Block& block, std::int64_t col) {
    if (col >= block.col + block.cols) return {{nullptr, 0}, 0};
    if (form != GemmForm::tn && args.packed_b) {
        return {{args.packed_b + col * args.k + block.p * tile_cols, tile_cols}, block.depth};
    }
    if (form == GemmForm::nt) return {{nullptr, 0}, 0};
    return {{args.b + block.p * args.ldb + col, args.ldb}, block.depth};
}

/// The squares of one finished panel of C, which is still in L1 or L2.
void add_squares(const GemmArgs<float>& args, const Block& block, std::int64_t col, std::int64_t cols) {
    constexpr int row_vectors = tile_cols / half_lanes, vector = lanes / half_lanes;
    static_assert(2 * row_vectors == SquareSum::unroll, "two rows fill a SquareSum");
    SquareSum sum = *block.squares;  // a local one stays in registers
    const float* c = args.c + block.row * args.ldc + col;
    std::int64_t r = 0;
    for (; cols == tile_cols && r + 2 <= block.rows; r += 2) {
        sum.add<0, row_vectors>(c + r * args.ldc);
        sum.add<row_vectors, row_vectors>(c + (r + 1) * args.ldc);
    }
    for (; r < block.rows; ++r) {  // an odd last row, or a narrow panel
        alignas(64) float row[tile_cols];
        store(row, load_partial(c + r * args.ldc, least(cols, lanes)));
        sum.add<0, vector>(row);
        if (cols <= lanes) continue;
        store(row + lanes, load_partial(c + r * args.ldc + lanes, cols - lanes));
        sum.add<vector, vector>(row + lanes);
    }
    *block.squares = sum;
}

template <GemmForm form>
void multiply_block(const GemmArgs<float>& args, const Block& block, const Rows& a, float* scratch) {
    for (std::int64_t j = 0; j < block.cols; j += tile_cols) {
        const std::int64_t col = block.col + j;
        const std::int64_t cols = least(tile_cols, block.cols - j);
        const Panel b = panel_of_b<form>(args, block, col, cols, scratch);
        const Ahead ahead = panel_ahead<form>(args, block, col + tile_cols);
        multiply_panel(args, block, a, b, ahead, col, cols);
        if (form == GemmForm::tn && block.squares && block.last) add_squares(args, block, col, cols);
    }
}

/// Calls body(block) for every depth block of the columns [col, col + cols) of a tile.
template <class Body>
void for_each_depth(Block block, const EvenSplit& depths, const Body& body) {
    for (std::int64_t d = 0; d < depths.parts; ++d) {
        block.p = depths.begin(d);
        block.depth = depths.begin(d + 1) - block.p;
        block.first = d == 0;
        block.last = d + 1 == depths.parts;
        body(block);
    }
}

/// Calls body(block) for every block of the tile: depth outermost, so that the block of A stays in cache while all
/// panels of B pass; or panel by panel, when only one panel of C can wait.
template <class Body>
void for_each_block(const GemmArgs<float>& args, Block tile, const EvenSplit& depths, const Body& body) {
    if (depths.parts == 1 || partial_sums_in_c(args)) {
        for_each_depth(tile, depths, body);
        return;
    }
    const std::int64_t end = tile.col + tile.cols;
    for (; tile.col < end; tile.col += tile_cols) {
        tile.cols = least(tile_cols, end - tile.col);
        for_each_depth(tile, depths, body);
    }
}

/// a_sums[m] = (+)= sum over the block's k of A[k, m].
void sum_columns(const GemmArgs<float>& args, const Block& block) {
    for (std::int64_t r = 0; r < block.rows; r += lanes) {
        const std::int64_t n = least(lanes, block.rows - r);
        float* to = args.epilogue.a_sums + block.row + r;
        const float* from = args.a + block.p * args.lda + block.row + r;
        Vec sum = block.first && !args.accumulate ? Vec(0.0f) : load_partial(to, n);
        if (n == lanes) {
            for (std::int64_t p = 0; p < block.depth; ++p) sum += load(from + p * args.lda);
        } else {
            for (std::int64_t p = 0; p < block.depth; ++p) sum += load_partial(from + p * args.lda, n);
        }
        store_partial(to, sum, n);
    }
}

template <GemmForm form>
void multiply_tiles(const GemmArgs<float>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    constexpr bool tn = form == GemmForm::tn;
    constexpr std::int64_t depth_limit = tn ? max_depth_tn : max_depth;
    alignas(64) float panel[depth_limit * tile_cols];
    alignas(64) float waiting[most(max_rows, max_rows_tn) * tile_cols];
    const GemmTiling tiles = tiling(form, args.m, args.n, args.k);
    const EvenSplit depths{args.k, most(1, divide_up(args.k, depth_limit))};
    for (std::int64_t tile = tile_begin; tile < tile_end; ++tile) {
        SquareSum squares;
        Block whole = tile_block(args, tiles, tile, waiting);
        whole.squares = tn && args.epilogue.square_sums ? &squares : nullptr;
        for_each_block(args, whole, depths, [&](const Block& block) {
            const Rows a = tn ? Rows{args.a + block.p * args.lda + block.row, args.lda, Contiguous::rows}
                              : Rows{args.a + block.row * args.lda + block.p, args.lda, Contiguous::depth};
            if (tn && args.epilogue.a_sums && block.col == 0) sum_columns(args, block);
            multiply_block<form>(args, block, a, panel);
        });
        if (whole.squares) args.epilogue.square_sums[tile] = squares.total();
    }
}

/// nt with one row and B as it is: no panel is worth packing for a single use.
void multiply_row(const GemmArgs<float>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    alignas(64) float waiting[tile_cols];
    const GemmTiling tiles = tiling(GemmForm::nt, args.m, args.n, args.k);
    const std::int64_t end = least(args.n, tile_end * tiles.cols);
    for (std::int64_t col = tile_begin * tiles.cols; col < end; col += lanes) {
        const std::int64_t cols = least(lanes, end - col);
        dot_columns(args.a, args.b + col * args.ldb, args.ldb, cols, args.k, waiting);
        finish(args, {waiting, 0, 1, col, cols, false});
    }
}

/// The same for a few rows: each row of B comes from memory once and is used by all of A.
void multiply_few_rows(const GemmArgs<float>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    alignas(64) float waiting[max_dot_rows * tile_cols];
    const auto dot = takes_two_columns(args.m, args.k) ? dot_rows<2> : dot_rows<4>;
    const GemmTiling tiles = tiling(GemmForm::nt, args.m, args.n, args.k);
    const std::int64_t end = least(args.n, tile_end * tiles.cols);
    for (std::int64_t col = tile_begin * tiles.cols; col < end; col += tile_cols) {
        const std::int64_t cols = least(tile_cols, end - col);
        dot(args.m, args.a, args.lda, args.b + col * args.ldb, args.ldb, cols, args.k, waiting);
        finish(args, {waiting, 0, args.m, col, cols, false});
    }
}

void nt(const GemmArgs<float>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    if (!args.packed_b && reads_rows(args.m, args.k)) {
        return args.m == 1 ? multiply_row(args, tile_begin, tile_end) : multiply_few_rows(args, tile_begin, tile_end);
    }
    multiply_tiles<GemmForm::nt>(args, tile_begin, tile_end);
}

void nn(const GemmArgs<float>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    multiply_tiles<GemmForm::nn>(args, tile_begin, tile_end);
}

void tn(const GemmArgs<float>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    multiply_tiles<GemmForm::tn>(args, tile_begin, tile_end);
}

}  // namespace

void add_gemm(KernelTable<float>& table) {
    table.gemm = {tiling, wants_packed, packed_elements, tile_cols, panels, pack_nt, pack_nt_streaming, pack_nn, nt, nn,
                  tn};
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
