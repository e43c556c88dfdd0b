// Each CUDA call fails, one by one. Then images of several sizes.
#include "leak.cu"

#include "exercise.cuh"

int main(void)
{
    const std::vector<unsigned char> rgb = random_numbers<unsigned char>(3 * 70000, 0, 255);
    std::vector<unsigned char> gray(70000);
    expect_each_failure("to_gray", [&] { return to_gray(rgb.data(), gray.data(), 1000); });

    for (int n : {1, 256, random_number(257, 5000), random_number(66000, 69000)}) {
        int code = 0;
        auto seen = see([&] { code = to_gray(rgb.data(), gray.data(), n); });
        expect_return(0, code, "to_gray (all CUDA calls succeed)",
                      "what was there in the beginning");
        std::vector<unsigned char> expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = (rgb[3 * i] + rgb[3 * i + 1] + rgb[3 * i + 2]) / 3;
        expect_elements("gray", expected, gray,
                        "what was there in the beginning: the numbers were right (make reset)");
        expect_writes(seen, n, "to_gray");
    }
    return passed();
}
