// Behind all headers of C++'s standard library: a little of it, in host code beside a kernel.
__global__ void add(int *x) { x[threadIdx.x] += 1; }

int main()
{
    int *numbers;
    if (cudaMallocManaged(&numbers, 3 * sizeof *numbers)) return 1;
    std::iota(numbers, numbers + 3, 40);
    add<<<1, 3>>>(numbers);
    if (cudaDeviceSynchronize()) return 1;
    std::vector<std::string> text{std::to_string(numbers[1])};
    text.insert(text.begin(), 8, "");
    text.erase(std::remove(text.begin(), text.end(), ""), text.end());
    std::map<int, int> counts, copy = std::map<int, int>{{1, 2}};
    counts = std::move(copy);
    std::unordered_map<std::string, std::size_t> words{{"word", text.size()}};
    std::ostringstream line;
    line.imbue(std::locale(std::locale(), new std::numpunct<char>));
    line << *text.begin() << " as " << words["word"] << " word, "
         << std::distance(numbers, numbers + 3) << " numbers";
    if (!std::regex_match(line.str(), std::regex("[0-9a-z, ]+")) || counts[1] != 2) return 1;
    std::mt19937 draw(7);
    if (std::uniform_int_distribution<int>(1, 6)(draw) > 6) return 1;
    std::cout << line.str() << std::endl;
    return cudaFree(numbers);
}
